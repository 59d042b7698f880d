"""Finds the tensors of called subgraphs that share bytes with the caller's, so that nothing is copied.

A subgraph that one operator calls, once, has one set of arguments and results:

    input            may be the argument: a subgraph writes to none of its inputs
    output           may be the result, unless it is an input, a constant, a variable, or another output as well

The state of a WHILE is its outputs.  Test and body read it there; what the body makes of it may be written there as
soon as no operator of the body reads the old value any more.  Where an output of the body is another one of its inputs,
as in a rotation, that input is a copy.  What the body hands on as it is, is the tensor that the loop began with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from usmp_build.frozen import frozen
from usmp_build.ir import options as o
from usmp_build.ir.graph import Model, Operator, Subgraph, TensorRef
from usmp_build.ir.options import called_subgraphs

Pair = tuple[TensorRef, TensorRef]
"""A tensor of a called subgraph, or the state of a loop, and the one of the caller that it may be."""


def shared_with_callers(number: int, model: Model) -> Iterator[Pair]:
    """Yield the tensors of model `number` that may share all bytes with a tensor of the caller."""
    sites = Counter(
        index for graph in model.subgraphs for op in graph.operators for index in called_subgraphs(op.options)
    )
    for caller, graph in enumerate(model.subgraphs):
        for op in graph.operators:
            once = {index for index in called_subgraphs(op.options) if sites[index] == 1}
            for callee, inside, outside in _pairs(op, graph, model, once):
                yield TensorRef(number, callee, inside), TensorRef(number, caller, outside)
            for state, given in _unchanged(op, graph, model, once):
                yield TensorRef(number, caller, state), TensorRef(number, caller, given)


def _pairs(op: Operator, graph: Subgraph, model: Model, once: set[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (subgraph, tensor in it, tensor of the caller) for the calls of an operator to subgraphs in `once`."""
    match op.options:
        case o.If():
            for arm in once:
                call = _Call(model.subgraphs[arm], op.inputs[1:], op.outputs, graph)
                yield from ((arm, *pair) for pair in (*call.inputs(), *call.outputs()))
        case o.While(test, body):
            if test in once:
                call = _Call(model.subgraphs[test], op.outputs, (), graph)
                yield from ((test, *pair) for pair in call.inputs())
            if body in once:
                call = _Call(model.subgraphs[body], op.outputs, op.outputs, graph)
                yield from ((body, *pair) for pair in call.carried())
        case o.Call(callee) if callee in once:
            call = _Call(model.subgraphs[callee], op.inputs, op.outputs, graph)
            yield from ((callee, *pair) for pair in (*call.inputs(), *call.outputs()))


def _unchanged(op: Operator, graph: Subgraph, model: Model, once: set[int]) -> Iterator[tuple[int, int]]:
    """Yield the state of a loop that its body leaves as it is, each with what it begins as."""
    if not isinstance(op.options, o.While) or op.options.body_subgraph not in once:
        return
    body = model.subgraphs[op.options.body_subgraph]
    same = {i for i, output in enumerate(body.outputs) if body.outputs.count(output) == 1 == body.inputs.count(output)}
    for position, (state, given) in enumerate(zip(op.outputs, op.inputs, strict=True)):
        is_same = position in same and body.inputs[position] == body.outputs[position]
        if not is_same or given is None or state in graph.outputs:
            continue
        if _may_share(graph, state) and _may_share(graph, given):
            yield state, given


def _may_share(graph: Subgraph, tensor: int) -> bool:
    """Tell whether a tensor is one buffer by itself, and no constant or variable."""
    value = graph.tensors[tensor]
    return not (value.is_constant or value.is_variable or tensor in graph.homes or tensor in graph.pitches)


@frozen
class _Call:
    """A call of a subgraph."""

    graph: Subgraph
    arguments: Sequence[int | None]
    results: Sequence[int]
    caller: Subgraph

    def inputs(self) -> Iterator[tuple[int, int]]:
        for inside, outside in zip(self.graph.inputs, self.arguments, strict=False):
            if outside is not None and self._is_plain(inside) and _may_share(self.caller, outside):
                yield inside, outside

    def outputs(self) -> Iterator[tuple[int, int]]:
        for inside, outside in zip(self.graph.outputs, self.results, strict=False):
            if self._is_result(inside) and _may_share(self.caller, outside):
                yield self._root(inside), outside

    def carried(self) -> Iterator[tuple[int, int]]:
        """Yield the inputs, and the outputs, of the body of a loop that may be the state."""
        roots = [self._root(output) for output in self.graph.outputs]
        moved = {tensor for i, tensor in enumerate(roots) if self.graph.inputs[i : i + 1] != (tensor,)}
        inputs = {inside: outside for inside, outside in self.inputs() if inside not in moved}
        yield from inputs.items()
        state_inputs = dict(zip(self.results, self.graph.inputs, strict=False))
        for inside, outside in self.outputs():
            before = state_inputs.get(outside)
            if before not in inputs or self._last_read(before) < self._first_written(inside):
                yield inside, outside

    def _root(self, tensor: int) -> int:
        return self.graph.roots.get(tensor, tensor)

    def _is_plain(self, tensor: int) -> bool:
        """Tell whether an input may share bytes, and is there once."""
        return self.graph.inputs.count(tensor) == 1 and _may_share(self.graph, tensor)

    def _is_result(self, tensor: int) -> bool:
        """Tell whether an output is all of what an operator of the subgraph writes, and no other output is."""
        root = self._root(tensor)
        is_only = [self._root(output) for output in self.graph.outputs].count(root) == 1
        is_written = root in self.graph.producers and root not in map(self._root, self.graph.inputs)
        return is_only and is_written and tensor not in self.graph.parts and _may_share(self.graph, root)

    def _last_read(self, tensor: int | None) -> int:
        """Return the place of the last operator that reads an input, itself or a view of it."""
        reads = (i for i, op in enumerate(self.graph.operators) if tensor in {self._root(t) for t in _present(op)})
        return max(reads, default=-1)

    def _first_written(self, root: int) -> int:
        """Return the place of the first operator that writes bytes of a tensor."""
        writes = (i for i, op in enumerate(self.graph.operators) if root in map(self._root, op.outputs))
        return min(writes)


def _present(op: Operator) -> list[int]:
    return [tensor for tensor in op.inputs if tensor is not None]
