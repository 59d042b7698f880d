"""Removes operators that compute the same as an earlier one (common subexpression elimination).

    %3 = TANH(%1)                %3 = TANH(%1)
    %4 = TANH(%1)           →
    %5 = ADD(%3, %4)             %5 = ADD(%3, %3)

A concatenation that begins with all inputs of an earlier one reads the output of that one:

    %4 = CONCATENATION(%1, %2)          %4 = CONCATENATION(%1, %2)
    %6 = CONCATENATION(%1, %2, %5)  →   %6 = CONCATENATION(%4, %5)

Two operators compute the same if they have the same kind, inputs, options and output types, and their kind is a pure
function of these.  Inputs of a sum or product may be in any order, and constants such as axes and paddings are the same
if their numbers are.  A tensor that is kept for a later reader takes memory in between: if that would raise the peak of
live bytes, in the order of the file, only operators are removed whose earlier tensor is still alive.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from usmp_build.ir.graph import DType, Model, Operator, Subgraph
from usmp_build.ir.options import Activation
from usmp_build.operators.joining import Concatenation
from usmp_build.operators.kind import Effect
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.edit import Net, renamed
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

_COUNTING = {DType.INT32, DType.INT64}
_LONGEST = 256
"""Most leading inputs of a concatenation that are compared with earlier ones."""


def duplicates(model: Model, pins: Pins = NO_PINS) -> Model:
    """Redirect readers of the second of two equal values to the first."""
    subgraphs = (_in_subgraph(graph, index, pins) for index, graph in enumerate(model.subgraphs))
    return replace(model, subgraphs=tuple(subgraphs))


def _in_subgraph(graph: Subgraph, index: int, pins: Pins) -> Subgraph:
    before = _most_alive(graph)
    for only_alive in (False, True):
        merged = _merged(Net(graph, index, pins), only_alive)
        if _most_alive(merged) <= before:
            return merged
    return graph


def _merged(net: Net, only_alive: bool) -> Subgraph:
    """Merge operators in the order in which they run; with `only_alive`, no lifetime is extended."""
    moved: dict[int, int] = {}
    firsts: dict[object, Operator] = {}
    wholes: dict[object, int] = {}
    for place, op in enumerate(net.graph.operators):
        op = renamed(op, moved)
        if op.kind == "CONCATENATION" and len(op.outputs) == 1 and net.may_change(op):
            op = _shortened(op, wholes, net, place if only_alive else 0)
        net.put(place, op)
        first = firsts.setdefault(_key(op, net), op) if _counts(op, net) else op
        if first is not op and (not only_alive or any(_is_read_from(t, place, net) for t in first.outputs)):
            moved |= zip(op.outputs, first.outputs, strict=True)
            net.put(place, None)
    return net.finished()


def _shortened(op: Operator, wholes: dict[object, int], net: Net, place: int) -> Operator:
    """Let a concatenation begin with an earlier one's output, if that has a reader at `place` or later."""
    output = net.graph.tensors[op.outputs[0]]
    is_plain = isinstance(op.options, Concatenation) and op.options.activation is Activation.NONE
    alike = op.options, output.dtype, output.quantization, net.pins.targets.get((net.index, op.position), 0)
    short = op
    for count in range(2, min(len(op.inputs), _LONGEST)):
        whole = wholes.get((alike, op.inputs[:count]))
        if is_plain and whole is not None and _is_read_from(whole, place, net):
            short = replace(op, inputs=(whole, *op.inputs[count:]))
    wholes.setdefault((alike, op.inputs), op.outputs[0])
    return short


def _counts(op: Operator, net: Net) -> bool:
    return traits(op.kind).effect is Effect.FUNCTION and net.may_change(op) and all(map(net.may_rename, op.outputs))


def _key(op: Operator, net: Net) -> object:
    tensors = (net.graph.tensors[tensor] for tensor in op.outputs)
    types = tuple((t.dtype, t.shape, t.quantization, t.axis_separators) for t in tensors)
    return op.kind, _inputs(op, net), op.options, types, net.pins.targets.get((net.index, op.position), 0)


def _inputs(op: Operator, net: Net) -> object:
    inputs, elementwise = [_operand(tensor, net) for tensor in op.inputs], traits(op.kind).elementwise
    return frozenset(Counter(inputs).items()) if elementwise and elementwise.symmetric else tuple(inputs)


def _operand(index: int | None, net: Net) -> object:
    """Return the identity of an operand; weights may be replaced later, so they are equal to themselves only."""
    tensor = net.tensor(index)
    if index is None or tensor is None or tensor.dtype not in _COUNTING or tensor.quantization is not None:
        return index
    return index if tensor.data is None else (tensor.dtype, tensor.shape, tensor.data)


def _is_read_from(tensor: int, place: int, net: Net) -> bool:
    return any(reader >= place for reader in net.readers[tensor])


def _most_alive(graph: Subgraph) -> int:
    """Return the peak of live bytes when operators run in this order."""
    last = {t: place for place, op in enumerate(graph.operators) for t in op.inputs if t is not None}
    last |= dict.fromkeys(graph.outputs, len(graph.operators))
    ends: dict[int, list[int]] = {}
    for tensor, place in last.items():
        ends.setdefault(place, []).append(tensor)
    alive = {tensor for tensor in graph.inputs if tensor in last}
    size = most = sum(graph.tensors[tensor].size for tensor in alive)
    for place, op in enumerate(graph.operators):
        fresh = {tensor for tensor in op.outputs if not graph.tensors[tensor].is_variable} - alive
        size += sum(graph.tensors[tensor].size for tensor in fresh)
        most = max(most, size)
        alive |= fresh
        gone = alive.intersection([*ends.get(place, ()), *(t for t in fresh if t not in last)])
        size -= sum(graph.tensors[tensor].size for tensor in gone)
        alive -= gone
    return most
