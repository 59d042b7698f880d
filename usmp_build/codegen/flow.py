"""Translates IF, WHILE, CALL and CALL_ONCE to the lines of `run`.

Subgraphs become blocks where they are called.  Their tensors have one place each, so all calls of an operator in them
are the same C.  What shares bytes with the caller (`passes.storage.calls`) is not copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from usmp_build.codegen.ports import Locate
from usmp_build.frozen import frozen
from usmp_build.ir import options as o
from usmp_build.ir.graph import Model, Operator, OperatorRef
from usmp_build.ir.options import called_subgraphs
from usmp_build.layout.code import CopiedBytes, FlowLine

Place = tuple[int, int | None]
"""A subgraph, and a tensor in it."""


@frozen
class Flow:
    """Control flow of one model, which `refusals` accepts."""

    model: Model
    locate: Locate
    numbers: Mapping[OperatorRef, int]
    """The indices of the functions of operators."""

    def lines(self, op: Operator, subgraph: int = 0, depth: int = 0) -> Iterator[FlowLine]:
        """Yield the lines of an operator of `subgraph` that calls others."""
        inputs, outputs = _in(subgraph, op.inputs), _in(subgraph, op.outputs)
        yield FlowLine(depth, f"/* {op.kind} {op.position} */")
        match op.options:
            case o.If(then, other):
                yield self._flag("if (*{}) {{", inputs[0], depth)
                yield from self._call(then, inputs[1:], outputs, depth + 1)
                yield FlowLine(depth, "} else {")
                yield from self._call(other, inputs[1:], outputs, depth + 1)
                yield FlowLine(depth, "}")
            case o.While(test, body):
                yield from self._copies(inputs, outputs, depth)
                yield from self._head(test, outputs, depth)
                yield from self._call(body, outputs, outputs, depth + 1)
                yield FlowLine(depth, "}")
            case o.Call(callee) if op.kind == "CALL_ONCE":
                yield self._flag("if (!*{}) {{", inputs[0], depth)
                yield from self._call(callee, (), outputs, depth + 1)
                yield self._flag("*{} = 1;", inputs[0], depth + 1)
                yield FlowLine(depth, "}")
            case o.Call(callee):
                yield from self._call(callee, inputs, outputs, depth)

    def _head(self, test: int, state: Sequence[Place], depth: int) -> Iterator[FlowLine]:
        """Yield the beginning of a loop, with its test."""
        verdict = test, self.model.subgraphs[test].outputs[0]
        lines = tuple(self._call(test, state, (), depth + 1))
        if not lines:
            yield self._flag("while (*{}) {{", verdict, depth)
            return
        yield FlowLine(depth, "for (;;) {")
        yield from lines
        yield self._flag("if (!*{}) {{", verdict, depth + 1)
        yield FlowLine(depth + 2, "break;")
        yield FlowLine(depth + 1, "}")

    def _call(
        self, subgraph: int, arguments: Sequence[Place], results: Sequence[Place], depth: int
    ) -> Iterator[FlowLine]:
        graph = self.model.subgraphs[subgraph]
        yield from self._copies(arguments, _in(subgraph, graph.inputs), depth)
        for index, op in enumerate(graph.operators):
            if called_subgraphs(op.options):
                yield from self.lines(op, subgraph, depth)
            elif op.runs:
                yield FlowLine(depth, step=self.numbers[OperatorRef(self.locate.model, subgraph, index)])
        yield from self._copies(_in(subgraph, graph.outputs), results, depth)

    def _copies(self, sources: Sequence[Place], destinations: Sequence[Place], depth: int) -> Iterator[FlowLine]:
        """Yield copies of tensors, except to where they are."""
        for source, destination in zip(sources, destinations, strict=False):
            size = self.model.subgraphs[destination[0]].tensors[destination[1] or 0].size
            copied = CopiedBytes(self._at(destination), self._at(source), size)
            if size and copied.source != copied.destination:
                yield FlowLine(depth, copied=copied)

    def _flag(self, text: str, place: Place, depth: int) -> FlowLine:
        """Return a line of C with a pointer to a flag in it."""
        pointer = self._at(place)
        return FlowLine(depth, text.format(f"({pointer})" if " " in pointer else pointer), pointer=pointer)

    def _at(self, place: Place) -> str:
        subgraph, tensor = place
        return "NULL" if tensor is None else self.locate.within(subgraph).expression(tensor)


def _in(subgraph: int, tensors: Iterable[int | None]) -> tuple[Place, ...]:
    return tuple((subgraph, tensor) for tensor in tensors)


def pointers(lines: Iterable[FlowLine]) -> Iterator[str]:
    """Yield the pointers that control flow itself reads and writes."""
    for line in lines:
        if line.copied:
            yield from (line.copied.source, line.copied.destination)
        elif line.pointer:
            yield line.pointer


def ports_of_calls(model: Model, ref: OperatorRef) -> Iterator[tuple[int, int]]:
    """Yield (subgraph, tensor) for what an operator that calls subgraphs copies or decides by."""
    op = model.subgraphs[ref.subgraph].operators[ref.operator]
    yield from ((ref.subgraph, tensor) for tensor in (*op.inputs, *op.outputs) if tensor is not None)
    for callee in called_subgraphs(op.options):
        graph = model.subgraphs[callee]
        yield from ((callee, tensor) for tensor in (*graph.inputs, *graph.outputs))
