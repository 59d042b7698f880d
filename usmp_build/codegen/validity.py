"""Comments in a model's header: how long inputs and outputs are valid, and which models may not run meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from textwrap import wrap

from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.connections import Connection
from usmp_build.ir.graph import Subgraph, TensorRef
from usmp_build.ir.ports import Names
from usmp_build.layout import ModelRow
from usmp_build.request import Inputs, Outputs, Request

_COLUMNS = 115


def validity(request: Request, analysis: Analysis, index: int, inputs: Names, outputs: Names) -> tuple[str, ...]:
    """Return the lines of a comment: when inputs and outputs become invalid, and what connections do."""
    main = analysis.models[index].main
    by_rows = _tensors(index, analysis.choices.by_rows.tables)
    filled = by_rows | _tensors(index, (connection.consumer for connection in analysis.connections))
    fed = by_rows | _tensors(index, (connection.producer for connection in analysis.connections))
    named = list(zip(main.inputs, inputs, strict=True))
    caller_inputs = [name for tensor, name in named if tensor not in filled]
    roots = [(main.roots.get(t, t), name) for t, name in zip(main.outputs, outputs, strict=True)]
    reserved_inputs = set(main.inputs if request.models[index].outputs is Outputs.RESERVED else ())
    plain_outputs = [name for root, name in roots if root not in fed | reserved_inputs]
    own_inputs = {tensor: name for tensor, name in named if tensor not in reserved_inputs}
    sentences = (
        *(_inputs(request, index, _Ports("input", caller_inputs, len(inputs))) if caller_inputs or not inputs else ()),
        *_connected(request, analysis, index, roots),
        *_shared(main, own_inputs, outputs),
        *(_outputs(request, index, _Ports("output", plain_outputs, len(outputs))) if plain_outputs else ()),
        *_reserved(request, analysis, index, roots, inputs),
        *_variables(main, roots),
        *_feeding(request, analysis, index),
    )
    return tuple(chain.from_iterable(wrap(sentence, _COLUMNS) for sentence in sentences))


def _tensors(model: int, refs: Iterable[TensorRef]) -> set[int]:
    """Return those of the tensors that are a model's."""
    return {ref.tensor for ref in refs if ref.model == model}


def _reserved(
    request: Request, analysis: Analysis, index: int, outputs: Sequence[tuple[int, str]], inputs: Names
) -> Iterator[str]:
    """Yield what outputs are that are inputs, too, where the model keeps its outputs."""
    if request.models[index].outputs is Outputs.RESERVED:
        for root, name in outputs:
            if root in analysis.models[index].main.inputs:
                yield _same(request, analysis, index, root, name, inputs)


def _variables(main: Subgraph, outputs: Sequence[tuple[int, str]]) -> Iterator[str]:
    for tensor, name in outputs:
        if main.tensors[tensor].is_variable:
            yield f"Output {name} is a variable: a reset changes it, too."


def exclusion(request: Request, model: ModelRow, index: int) -> tuple[str, ...]:
    """Return the lines of a comment: what may not run while model `index` does, and what detects that it does."""
    if not (model.generated_workspaces or model.passed_workspaces):
        return ("It has no workspace: it may run several times at once.",)
    others = [each.name for each in request.models if each.name != model.name]
    concurrent = [each.name for i, each in enumerate(request.models) if request.are_concurrent(index, i)]
    where = "" if model.generated_workspaces else " in the same workspace pools"
    if not others:
        text = f"While it runs, do not start it again{where}"
    elif not concurrent:
        text = f"Models of this plan share memory: while this one runs, start no other{where}, nor this one again"
    else:
        more = "" if concurrent == others else "with no other model of this plan, and "
        together = _listed(concurrent, "and")
        text = f"It may run at the same time as {together}, but {more}never twice at once{where}"
    text += (
        ", not even from an interrupt or another thread.  Only builds with USMP_GUARD (by default those without "
        "NDEBUG) detect that, and return USMP_BUSY."
    )
    if model.inputs_by_rows and concurrent != others:
        text += f"  Until it has ended, fill no inputs of {'others' if not concurrent else 'models that may not run'}."
    return tuple(wrap(text, _COLUMNS))


@frozen
class _Ports:
    """Inputs or outputs of a model that share a sentence."""

    noun: str
    names: Sequence[str]
    total: int
    """The number of all inputs, or outputs: ports are named unless these are all of them."""

    @property
    def is_one(self) -> bool:
        return len(self.names) == 1 < self.total

    @property
    def are(self) -> str:
        """For example "Inputs are", or "Input question is"."""
        if len(self.names) == self.total:
            return f"{self.noun.capitalize()}s are"
        listed = _listed(self.names, "and")
        return f"{self.noun.capitalize()} {listed} is" if self.is_one else f"{self.noun.capitalize()}s {listed} are"

    @property
    def object(self) -> str:
        """For example "all inputs", or "question"."""
        return f"all {self.noun}s" if len(self.names) == self.total else _listed(self.names, "and")

    @property
    def pronoun(self) -> str:
        return "it" if self.is_one else "them"


def _inputs(request: Request, index: int, ports: _Ports) -> Iterator[str]:
    others = _exclusive(request, index)
    match request.models[index].inputs:
        case Inputs.CONSUMED if _excludes_all(request, index):
            yield (
                f"Fill {ports.object} right before every run: a run of any model, or filling another model's inputs, "
                f"may overwrite {ports.pronoun}."
            )
        case Inputs.CONSUMED:
            more = f", a run of {_listed(others)}, or filling {_pronoun(others)} inputs" if others else ""
            yield f"Fill {ports.object} right before every run: the run itself{more} may overwrite {ports.pronoun}."
        case Inputs.PRESERVED:
            until = f" until {_listed(others)} runs, or {_pronoun(others)} inputs are filled" if others else ""
            yield f"{ports.are} intact after a run{until}: for another run, fill what changes."
        case Inputs.RESERVED:
            yield (
                f"{ports.are} nobody else's: fill {ports.pronoun} at any time but during a run of this model, by DMA "
                f"too.  {'It stays' if ports.is_one else 'They stay'} intact until filled again."
            )


def _outputs(request: Request, index: int, ports: _Ports) -> Iterator[str]:
    if request.models[index].outputs is Outputs.RESERVED:
        yield (
            f"{ports.are} valid until this model runs again: filling its inputs leaves {ports.pronoun} intact, and so "
            "do other models."
        )
    elif _excludes_all(request, index):
        yield f"{ports.are} valid until any model of the plan runs, or the inputs of any model are filled."
    else:
        names = ["this model", *_exclusive(request, index)]
        yield f"{ports.are} valid until {_listed(names)} runs, or {_pronoun(names)} inputs are filled."


def _shared(main: Subgraph, inputs: Mapping[int, str], outputs: Names) -> Iterator[str]:
    """Yield which outputs have the same bytes, or those of an input; `inputs` are names by tensor."""
    names: dict[int, list[str]] = {}
    for tensor, name in zip(main.outputs, outputs, strict=True):
        if tensor not in main.parts:
            names.setdefault(main.roots.get(tensor, tensor), []).append(name)
    for root, same in names.items():
        listed = _listed(same, "and")
        if root in inputs:
            is_one = len(same) == 1
            yield f"{'Output' if is_one else 'Outputs'} {listed} {'is' if is_one else 'are'} input {inputs[root]}."
        elif len(same) > 1:
            yield f"Outputs {listed} are the same bytes."


def _same(request: Request, analysis: Analysis, index: int, tensor: int, name: str, inputs: Names) -> str:
    """Return what changes a reserved output that is an input of the model."""
    connections = (c for c in analysis.connections if c.consumer == TensorRef(index, 0, tensor))
    changes = [f"{request.models[c.producer.model].name} runs{_or_filled(request, c)}" for c in connections]
    same = inputs[analysis.models[index].main.inputs.index(tensor)]
    return f"Output {name} is input {same}: it is valid until {changes[0] if changes else 'that is filled'}."


def _or_filled(request: Request, connection: Connection) -> str:
    """Return a clause about filling inputs of a producer, which may overwrite its outputs unless they are reserved."""
    return ", or its inputs are filled" if request.models[connection.producer.model].outputs is Outputs.RUN else ""


def _connected(request: Request, analysis: Analysis, index: int, outputs: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Yield how long inputs are valid that other models fill; `outputs` are tensors and names of this model."""
    for connection in (c for c in analysis.connections if c.consumer.model == index):
        producer = request.models[connection.producer.model]
        names = [name for tensor, name in outputs if tensor == connection.consumer.tensor]
        after = f"A run leaves it as it is: it is output {_listed(names, 'and')}." if names else "A run consumes it."
        yield (
            f"A run of {producer.name} fills input {_port_of(connection.consumer_name)}, with its output "
            f"{_port_of(connection.producer_name)}.  "
            + (
                after
                if connection.is_consumed
                else f"It is valid until {producer.name} runs{_or_filled(request, connection)}."
            )
        )


def _feeding(request: Request, analysis: Analysis, index: int) -> Iterator[str]:
    """Yield what other models do to the outputs that feed them."""
    connections = [c for c in analysis.connections if c.producer.model == index]
    for producer in dict.fromkeys(c.producer for c in connections):
        ends = [c for c in connections if c.producer == producer]
        until = f"this model runs again{_or_filled(request, ends[0])}"
        if all(end.is_consumed for end in ends):
            consumer = request.models[ends[0].consumer.model].name
            until = f"{consumer} or this model runs, or this model's inputs are filled"
        feeds = _listed([c.consumer_name for c in ends], "and")
        yield f"Output {_port_of(ends[0].producer_name)} feeds {feeds}: it is valid until {until}."


def _exclusive(request: Request, index: int) -> list[str]:
    """Return the other models that never run at the same time as this one."""
    return [request.models[other].name for other in request.excluded(index) if other != index]


def _excludes_all(request: Request, index: int) -> bool:
    return len(request.excluded(index)) == len(request.models)


def _listed(names: Sequence[str], conjunction: str = "or") -> str:
    *first, last = names
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def _pronoun(names: Sequence[str]) -> str:
    return "its" if len(names) == 1 else "their"


def _port_of(name: str) -> str:
    """Return the port of `detector.boxes`: model and port."""
    return name.partition(".")[2]
