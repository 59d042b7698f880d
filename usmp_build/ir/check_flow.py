"""Checks data flow: each tensor has one writer, and is written before it is read (topological order)."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.errors import Diagnostic
from usmp_build.ir.graph import Subgraph
from usmp_build.ir.labels import operator_label, tensor_label


def flow_faults(index: int, subgraph: Subgraph) -> Iterator[Diagnostic]:
    """Yield the faults of the subgraph at `index`, going through its operators as they run."""
    flow = _Flow(index, subgraph)
    yield from flow.begin()
    for position in range(len(subgraph.operators)):
        yield from flow.run(position)
    yield from flow.end()


class _Flow:
    """The tensors that have a value so far, and their writers."""

    def __init__(self, index: int, subgraph: Subgraph) -> None:
        self._index = index
        self._subgraph = subgraph
        self._inputs = set(subgraph.inputs)
        self._valued = {t for t, tensor in enumerate(subgraph.tensors) if tensor.is_constant or tensor.is_variable}
        self._writers: dict[int, int] = {}

    def begin(self) -> Iterator[Diagnostic]:
        """Enter the subgraph: its inputs get values."""
        seen: set[int] = set()
        for tensor in self._subgraph.inputs:
            if tensor in seen:
                yield Diagnostic("T233", f"{self._tensor(tensor)} is an input of subgraph {self._index} twice")
            if self._subgraph.tensors[tensor].is_constant:
                yield Diagnostic("T234", f"{self._tensor(tensor)} is a constant and an input of subgraph {self._index}")
            seen.add(tensor)
        self._valued |= seen

    def run(self, position: int) -> Iterator[Diagnostic]:
        """Read the inputs of an operator, then write its outputs."""
        operator = self._subgraph.operators[position]
        reads = {tensor for tensor in operator.inputs if tensor is not None}
        label = self._operator(position)
        for tensor in sorted(reads.intersection(operator.outputs)):
            yield Diagnostic("T235", f"{label} reads and writes {self._tensor(tensor)}")
        for tensor in sorted(reads - self._valued - self._scratch(position)):
            yield self._without_value(tensor, f"{label} reads")
        for tensor in operator.outputs:
            if self._subgraph.tensors[tensor].is_constant:
                yield Diagnostic("T234", f"{label} writes {self._tensor(tensor)}, which is a constant")
            elif tensor in self._inputs:
                yield Diagnostic("T234", f"{label} writes {self._tensor(tensor)}, which is an input of the subgraph")
            elif tensor in self._writers:
                other = self._operator(self._writers[tensor])
                yield Diagnostic("T235", f"{label} writes {self._tensor(tensor)}, which {other} writes too")
            self._writers[tensor] = position
            self._valued.add(tensor)

    def _scratch(self, position: int) -> set[int]:
        """Return the inputs of a custom operator that no operator writes: scratch of an accelerator."""
        operator, writers = self._subgraph.operators[position], self._subgraph.producers
        if not operator.kind.startswith("CUSTOM:"):
            return set()
        return {tensor for tensor in operator.inputs if tensor is not None and tensor not in writers}

    def end(self) -> Iterator[Diagnostic]:
        """Leave the subgraph: its outputs must have values."""
        for tensor in self._subgraph.outputs:
            if tensor not in self._valued:
                yield self._without_value(tensor, f"subgraph {self._index} returns")

    def _tensor(self, tensor: int) -> str:
        return tensor_label(self._index, tensor, self._subgraph.tensors[tensor].name)

    def _operator(self, position: int) -> str:
        return operator_label(self._index, position, self._subgraph.operators[position].kind)

    def _without_value(self, tensor: int, who: str) -> Diagnostic:
        what = f"{who} {self._tensor(tensor)}"
        if tensor in self._subgraph.producers:
            writer = self._operator(self._subgraph.producers[tensor])
            return Diagnostic("T237", f"{what} before {writer} has written it")
        return Diagnostic("T236", f"{what}, but nothing writes it and it is neither an input nor a constant")
