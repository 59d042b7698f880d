"""Gives subgraphs that get handles of variables from their callers a VAR_HANDLE of their own instead.

    %1 = VAR_HANDLE() shared_name="sum"         %1 = VAR_HANDLE() shared_name="sum"
    %3, %4 = WHILE(%2, %1)                      %3 = WHILE(%2)
    %5 = READ_VARIABLE(%4)                      %5 = READ_VARIABLE(%1)

    in the body: inputs %0, %1      →           inputs %0
                                                %1 = VAR_HANDLE() shared_name="sum"
                 outputs %2, %1                 outputs %2

So it is known at build time which variable each operator touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from usmp_build.ir.check import check
from usmp_build.ir.check_calls import MAX_DEPTH
from usmp_build.ir.graph import Model, Operator, Subgraph
from usmp_build.ir.options import If, Options, VarHandle, While, called_subgraphs
from usmp_build.ir.variables import HANDLE

_FAULT = "T268"
_ROUNDS = 2 * MAX_DEPTH
"""Into the deepest subgraph and out again; more take calls in a row that pass on what the one before returned."""


def with_own_handles(model: Model) -> Model:
    """Return the model with a VAR_HANDLE wherever a handle is an input; the model itself where that changes nothing."""
    fault = check(model)
    if fault is None or fault.code != _FAULT or len(model.subgraphs) == 1:
        return model
    handles = _Handles(model)
    handles.follow()
    if not handles.agree():
        return model
    return replace(model, subgraphs=tuple(map(handles.rewritten, range(len(model.subgraphs)))))


@dataclass
class _Handles:
    """Which variable each tensor is the handle of, in each subgraph."""

    model: Model
    _known: dict[tuple[int, int], Options] = field(default_factory=dict)
    """(subgraph, tensor) → the options of the VAR_HANDLE, which name the variable."""
    _callers: dict[int, list[tuple[int, Operator]]] = field(default_factory=dict)
    """Subgraph → the operators that run it, each with its own subgraph."""

    def __post_init__(self) -> None:
        """Know what each VAR_HANDLE makes, and who runs what."""
        for s, graph in enumerate(self.model.subgraphs):
            for op in graph.operators:
                if op.kind == HANDLE:
                    self._known |= {(s, t): op.options or VarHandle() for t in op.outputs}
                for callee in called_subgraphs(op.options):
                    self._callers.setdefault(callee, []).append((s, op))

    def follow(self) -> None:
        """Follow handles from their VAR_HANDLE into subgraphs and out of them, until nothing new is known."""
        for _ in range(_ROUNDS):
            before = len(self._known)
            for s, graph in enumerate(self.model.subgraphs[1:], 1):
                for position, tensor in enumerate(graph.inputs):
                    self._learn((s, tensor), list(self._given(s, position)))
            for s, graph in enumerate(self.model.subgraphs):
                for op in filter(lambda op: called_subgraphs(op.options), graph.operators):
                    for position, tensor in enumerate(op.outputs):
                        self._learn((s, tensor), list(self._returned(s, op, position)))
            if len(self._known) == before:
                return

    def agree(self) -> bool:
        """Tell whether handles that operators pass on and get back are those inside: a loop may exchange them."""
        for s, graph in enumerate(self.model.subgraphs):
            for op in graph.operators:
                given, got = self._names(s, _arguments(op)), self._names(s, op.outputs)
                inside = [self._names(c, self.model.subgraphs[c].inputs) for c in called_subgraphs(op.options)]
                back = [self._names(c, self.model.subgraphs[c].outputs) for c in _returning(op.options)]
                back += [given] if isinstance(op.options, While) else []
                if any(names != given for names in inside) or any(names != got for names in back):
                    return False
        return True

    def _names(self, subgraph: int, tensors: Iterable[int | None]) -> list[Options | None]:
        return [None if t is None else self._known.get((subgraph, t)) for t in tensors]

    def rewritten(self, index: int) -> Subgraph:
        """Return a subgraph without handles among its inputs and outputs, and those of the operators that call."""
        graph = self.model.subgraphs[index]
        inputs = tuple(t for t in graph.inputs if (index, t) not in self._known)
        own = [t for t in graph.inputs if (index, t) in self._known]
        first = 1 + max((op.position for op in graph.operators), default=-1)
        handles = [Operator(HANDLE, (), (t,), self._known[index, t], first + n) for n, t in enumerate(own)]
        moved = self._moved(index, own)
        operators = [self._without_handles(op, index, moved) for op in graph.operators]
        outputs = tuple(t for t in graph.outputs if (index, t) not in self._known) if index else graph.outputs
        return replace(graph, inputs=inputs, outputs=outputs, operators=(*handles, *operators))

    def _moved(self, index: int, own: Iterable[int]) -> dict[int, int]:
        """Return handle → the first one of its variable: of those that were inputs, or of an operator."""
        graph = self.model.subgraphs[index]
        firsts: dict[Options, int] = {}
        for t in (*own, *(t for op in graph.operators if op.kind == HANDLE for t in op.outputs)):
            firsts.setdefault(self._known[index, t], t)
        names = ((t, self._known.get((index, t))) for t in range(len(graph.tensors)))
        return {t: firsts[name] for t, name in names if name in firsts}

    def _without_handles(self, op: Operator, index: int, moved: dict[int, int]) -> Operator:
        if called_subgraphs(op.options):
            inputs = tuple(t for t in op.inputs if t is None or (index, t) not in self._known)
            return replace(op, inputs=inputs, outputs=tuple(t for t in op.outputs if (index, t) not in self._known))
        if op.kind == HANDLE:
            return op
        return replace(op, inputs=tuple(t if t is None else moved.get(t, t) for t in op.inputs))

    def _learn(self, tensor: tuple[int, int], names: Sequence[Options | None]) -> None:
        """Note whose handle a tensor is where all that it comes from agrees."""
        if names and names[0] is not None and all(name == names[0] for name in names):
            self._known.setdefault(tensor, names[0])

    def _given(self, callee: int, position: int) -> Iterator[Options | None]:
        """Yield what each caller gives a subgraph as this input."""
        for s, op in self._callers.get(callee, ()):
            tensor = _arguments(op)[position]
            yield None if tensor is None else self._known.get((s, tensor))

    def _returned(self, caller: int, op: Operator, position: int) -> Iterator[Options | None]:
        """Yield what each subgraph that an operator runs returns as this output; of a loop what it begins with."""
        if isinstance(op.options, While):
            yield from self._names(caller, op.inputs[position : position + 1])
            return
        for callee in _returning(op.options):
            yield self._known.get((callee, self.model.subgraphs[callee].outputs[position]))


def _arguments(op: Operator) -> tuple[int | None, ...]:
    """Return the inputs that an operator passes on: an IF keeps the first one for itself."""
    return op.inputs[1:] if isinstance(op.options, If) else op.inputs


def _returning(options: Options | None) -> Iterable[int]:
    """Return the subgraphs whose outputs become those of the operator."""
    return called_subgraphs(options)[-1:] if isinstance(options, While) else called_subgraphs(options)
