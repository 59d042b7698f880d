"""Says of each operator of the model files whether generated C runs it: by which form, or why not, and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from usmp_build import passes
from usmp_build.errors import KernelError
from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import Kernel, Libraries, NoKernel, Pieces, Reduce, Rows
from usmp_build.ir.graph import Model, Operator, Subgraph
from usmp_build.ir.options import called_subgraphs
from usmp_build.kernels.extern import Extern
from usmp_build.operators.ways_out import way_out
from usmp_build.passes.assign import Assignment, Spot
from usmp_build.passes.select import ask
from usmp_build.request import Request

_OF_THE_APPLICATION = Extern()


class Support(Enum):
    """What becomes of an operator."""

    RUNS = "runs"
    """A kernel, or control flow of the generated C."""
    NOTHING_RUNS = "nothing runs"
    """It is a view, or a rewrite removes it or merges it into another operator."""
    NEEDS_FUNCTION = "needs a function of yours"
    """There is no kernel, and the application can supply one."""
    PLANNED_ONLY = "planned only"
    """Neither."""


_NOT_RUNNING = (Support.NEEDS_FUNCTION, Support.PLANNED_ONLY)


@frozen
class OperatorSupport:
    """What becomes of one operator of a model file."""

    model: str
    subgraph: int
    operator: int
    """Its position in the file."""
    kind: str
    inputs: tuple[str, ...]
    """Types, in lower case; "-" for an operand that was left out."""
    outputs: tuple[str, ...]
    support: Support
    how: str
    """The form of the kernel, or the reason as a clause."""
    functions: tuple[str, ...] = ()
    """The C functions of the kernel, without the project's prefix."""
    declined: tuple[str, ...] = ()
    """Why there are no faster kernels for the instructions of the target."""
    way_out: str = ""
    """How to convert the model so that the operator runs; empty where no option of a converter does that."""


def operator_support(request: Request, models: tuple[Model, ...], libraries: Libraries) -> tuple[OperatorSupport, ...]:
    """Return what becomes of each operator of these models, as imported, in the order of the files."""
    assignment = passes.assign(request, models)
    pins = assignment.pins(request, models)
    return tuple(
        support
        for m, model in enumerate(models)
        for support in _of_model(
            request,
            model,
            m,
            passes.rewrite(model, pins[m], request.models[m].rewrites_off).model,
            assignment,
            libraries,
        )
    )


def _of_model(
    request: Request, model: Model, m: int, rewritten: Model, assignment: Assignment, libraries: Libraries
) -> Iterator[OperatorSupport]:
    for s, (graph, after) in enumerate(zip(model.subgraphs, rewritten.subgraphs, strict=True)):
        left = {op.position: op for op in after.operators}
        for op in graph.operators:
            spot = Spot(m, s, op.position)
            runner = (assignment.target(spot), assignment.library(spot, request.targets))
            now = left.get(op.position)
            kernel = _kernel(now, after, libraries, runner) if now else NoKernel("a rewrite removes it")
            support = _support(now, after, kernel) if now else Support.NOTHING_RUNS
            yield OperatorSupport(
                request.models[m].name,
                s,
                op.position,
                op.kind,
                _types(op.inputs, graph),
                _types(op.outputs, graph),
                support,
                kernel.reason if isinstance(kernel, NoKernel) else form_of(kernel),
                functions_of(kernel),
                kernel.declined if isinstance(kernel, Kernel) else (),
                way_out(now, after) if now and support in _NOT_RUNNING else "",
            )


def _types(tensors: tuple[int | None, ...], graph: Subgraph) -> tuple[str, ...]:
    return tuple("-" if index is None else graph.tensors[index].dtype.name.lower() for index in tensors)


def _kernel(op: Operator, graph: Subgraph, libraries: Libraries, runner: tuple[int, str]) -> Kernel | NoKernel:
    """Return the kernel of an operator that is left; where it has none, what becomes of it, or why not."""
    if not op.runs:
        return NoKernel("it is a view")
    if called_subgraphs(op.options):
        return NoKernel("in the generated code")
    try:
        return ask(libraries, runner, op, graph)
    except KernelError as error:
        return NoKernel(f"it {error.diagnostics[0].message.partition(') ')[2]}")


def _support(op: Operator, graph: Subgraph, kernel: Kernel | NoKernel) -> Support:
    if not op.runs:
        return Support.NOTHING_RUNS
    if isinstance(kernel, Kernel) or called_subgraphs(op.options):
        return Support.RUNS
    can_be_supplied = isinstance(_OF_THE_APPLICATION.kernel(op, graph), Kernel)
    return Support.NEEDS_FUNCTION if can_be_supplied else Support.PLANNED_ONLY


def functions_of(kernel: Kernel | NoKernel) -> tuple[str, ...]:
    """Return the C functions of a kernel, each once, without the project's prefix."""
    return tuple(dict.fromkeys(call.function for call in kernel.calls)) if isinstance(kernel, Kernel) else ()


def form_of(kernel: Kernel) -> str:
    """Return how a kernel goes through its operands, and how it can, in one or two words."""
    forms = [call.form for call in (*kernel.calls, *(kernel.by_rows.calls if kernel.by_rows else ()))]
    if any(isinstance(form, Rows | Pieces) for form in forms):
        return "by rows"
    return "adds up rows" if any(isinstance(form, Reduce) for form in forms) else "whole"
