"""Of operators that compute the same, the first one stays.

    %3 = TANH(%1)                %3 = TANH(%1)
    %4 = TANH(%1)           →
    %5 = ADD(%3, %4)             %5 = ADD(%3, %3)

Two operators compute the same when kind, inputs, options and the types of the outputs are the same, and nothing else
counts for their kind.  A tensor that is kept for a later reader takes memory in between: where that would raise the
bytes that are alive at once, in the order of the file, only those go whose tensor is still alive anyway.
"""

from __future__ import annotations

from dataclasses import replace

from usmp_build.ir.graph import Model, Operator, Subgraph
from usmp_build.passes.rewrite.edit import Net, renamed
from usmp_build.passes.rewrite.effects import FUNCTIONS, touches_state
from usmp_build.passes.rewrite.pins import NO_PINS, Pins


def duplicates(model: Model, pins: Pins = NO_PINS) -> Model:
    """Let those who read the second of two equal values read the first."""
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
    """Go through the operators as they run; with `only_alive`, what nobody reads any more is not kept alive."""
    moved: dict[int, int] = {}
    firsts: dict[object, Operator] = {}
    for place, op in enumerate(net.graph.operators):
        op = renamed(op, moved)
        net.put(place, op)
        first = firsts.setdefault(_key(op, net), op) if _counts(op, net) else op
        if first is not op and (not only_alive or any(_is_read_from(t, place, net) for t in first.outputs)):
            moved |= zip(op.outputs, first.outputs, strict=True)
            net.put(place, None)
    return net.finished()


def _counts(op: Operator, net: Net) -> bool:
    return (
        op.kind in FUNCTIONS
        and not touches_state(op, net.graph)
        and net.may_change(op)
        and all(net.may_rename(tensor) for tensor in op.outputs)
    )


def _key(op: Operator, net: Net) -> object:
    tensors = (net.graph.tensors[tensor] for tensor in op.outputs)
    types = tuple((t.dtype, t.shape, t.quantization, t.axis_separators) for t in tensors)
    return op.kind, op.inputs, op.options, types, net.pins.targets.get((net.index, op.position), 0)


def _is_read_from(tensor: int, place: int, net: Net) -> bool:
    return any(reader >= place for reader in net.readers[tensor])


def _most_alive(graph: Subgraph) -> int:
    """Return the most bytes that are alive at once when operators run in this order."""
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
