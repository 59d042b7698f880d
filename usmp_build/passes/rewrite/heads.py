"""Leaves the heads of attention where the tokens have them: products of matrices read and write each head in steps.

    %4 = TRANSPOSE(%0, [0, 2, 1, 3])      [1, tokens, heads, depth] → [1, heads, tokens, depth]
    %5 = TRANSPOSE(%1, [0, 2, 3, 1])
    %6 = BATCH_MATMUL(%4, %5)             scores: [1, heads, tokens, tokens]
    %7 = SOFTMAX(%6)
    %8 = TRANSPOSE(%2, [0, 2, 1, 3])
    %9 = BATCH_MATMUL(%7, %8)
    %3 = TRANSPOSE(%9, [0, 2, 1, 3])      [1, tokens, heads, depth]

    %6 = BATCH_MATMUL(%0, %1) left_axes=[0, 2, 1, 3] right_axes=[0, 2, 3, 1] output_axes=[0, 2, 1, 3]
    %7 = SOFTMAX(%6)                      [1, tokens, heads, tokens]
    %3 = BATCH_MATMUL(%7, %2) left_axes=[0, 2, 1, 3] right_axes=[0, 2, 1, 3] output_axes=[0, 2, 1, 3]

Then the first axis that is longer than 1 is that of tokens all the way: row by row, one token has scores at a time.  Of
what is between the products, and between them and the transpositions, axes move; all else keeps its place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from usmp_build.ir.graph import Model, Operator, Subgraph
from usmp_build.ir.options import Order, in_order
from usmp_build.ir.rewritten import RewriteStep
from usmp_build.operators.sums import BatchMatMul
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.edit import Net, renamed
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

_ALONG_ROWS = {"LOG_SOFTMAX", "SOFTMAX", "VIEW"}
"""Kinds that make each run along the last axis from that of the input, if both have one shape."""


class _Product(NamedTuple):
    """A BATCH_MATMUL, or a TRANSPOSE before it, and the tensors from its output to where its values are read."""

    place: int
    operator: Operator
    tensors: list[int]
    """The output of the operator comes last."""


def heads(model: Model, pins: Pins = NO_PINS) -> RewriteStep:
    """Leave out the transpositions around the two products of an attention, where all of them can be."""
    subgraphs, axes = list[Subgraph](), dict[tuple[int, int], Order]()
    for index, graph in enumerate(model.subgraphs):
        net, moved = Net(graph, index, pins), dict[int, Order]()
        for place, op in enumerate(graph.operators):
            order = _order(op, net)
            if order is not None:
                moved |= {tensor: _of(tensor, order, net) for tensor in _joined(place, op, order, net)}
        axes |= {(index, tensor): order for tensor, order in moved.items()}
        tensors = (
            replace(tensor, shape=in_order(tensor.shape, moved.get(number)))
            for number, tensor in enumerate(graph.tensors)
        )
        subgraphs.append(replace(net.finished(), tensors=tuple(tensors)) if moved else graph)
    return RewriteStep(replace(model, subgraphs=tuple(subgraphs)), axes=axes)


def _joined(place: int, last: Operator, order: Order, net: Net) -> list[int]:
    """Fold the TRANSPOSE after an attention into it; return the tensors whose axes move, none if there is nothing."""
    values = _found("BATCH_MATMUL", last, order, net)
    scores = values and _found("BATCH_MATMUL", values.operator, order, net)
    queries = scores and _found("TRANSPOSE", scores.operator, order, net)
    if not values or not scores or not queries or not _comes_first(values, order, net):
        return []
    back = _order(queries.operator, net)
    if back is None or len(back) != len(order) or in_order(back, order) != (*range(len(order)),):
        return []
    net.put(place, None)
    net.put(queries.place, None)
    _rename(queries.tensors[-1], queries.operator.inputs[0], net)
    for product in (scores, values):
        _put_with_axes(product.place, back, order, net)
    writer = net.writers[values.tensors[0]]
    net.put(writer, replace(net.operators[writer] or last, outputs=last.outputs))
    return [*queries.tensors[:-1], *scores.tensors, *values.tensors[1:]]


def _found(kind: str, reader: Operator, order: Order, net: Net) -> _Product | None:
    """Return the operator of a kind that the first input of a reader comes from, row by row; None if there is none."""
    tensor, tensors = reader.inputs[0] if reader.inputs else None, list[int]()
    while tensor is not None and _is_between(tensor, net):
        tensors.append(tensor)
        producer = net.producer(tensor)
        if producer is None or not net.pins.may_join(net.index, producer, reader):
            return None
        if producer.kind == kind:
            is_known = kind == "TRANSPOSE" or _is_plain(producer, order, net)
            return _Product(net.writers[tensor], producer, tensors) if is_known else None
        tensor = _passed(producer, order, net)
    return None


def _is_between(tensor: int, net: Net) -> bool:
    is_separated = net.graph.tensors[tensor].axis_separators is not None
    return net.may_go(tensor) and len(net.readers[tensor]) == 1 and not is_separated


def _is_plain(product: Operator, order: Order, net: Net) -> bool:
    """Tell whether rows of the output are made of rows of the left side, and all operands have as many axes."""
    ranks = [len(each.shape) for each in map(net.tensor, product.inputs) if each is not None]
    is_turned = not isinstance(product.options, BatchMatMul) or product.options.adj_x
    return len(ranks) == 2 and {*ranks} <= _ranks(order) and not is_turned and len({*product.inputs}) == 2


def _ranks(order: Order) -> set[int]:
    """Return how many axes tensors may have: they may lack leading ones that stay where they are."""
    return {len(order) - count for count in range(len(order) - 1) if order[:count] == (*range(count),)}


def _of(tensor: int, order: Order, net: Net) -> Order:
    """Return the order of a tensor's axes, which may lack leading ones."""
    lacking = len(order) - len(net.graph.tensors[tensor].shape)
    return tuple(axis - lacking for axis in order[lacking:])


def _passed(op: Operator, order: Order, net: Net) -> int | None:
    """Return the input whose axes can move as those of the output do; None if there is none, or another in its way."""
    if len(op.outputs) != 1 or not (op.kind in _ALONG_ROWS or traits(op.kind).elementwise):
        return None
    shape = net.graph.tensors[op.outputs[0]].shape
    shapes = {tensor: net.graph.tensors[tensor].shape for tensor in op.inputs if tensor is not None}
    alike = [tensor for tensor in op.inputs if tensor is not None and _is_alike(op, shapes[tensor], shape)]
    if len(alike) != 1 or not {len(shape), len(shapes[alike[0]])} <= _ranks(order):
        return None
    others = [each for tensor, each in shapes.items() if tensor != alike[0]]
    return alike[0] if all(_is_even(each, order) for each in others) else None


def _is_alike(op: Operator, source: tuple[int, ...], output: tuple[int, ...]) -> bool:
    """Tell whether shapes are equal, apart from leading axes of one element that a view adds or leaves out."""
    if op.kind != "VIEW":
        return source == output
    short, long = sorted((source, output), key=len)
    more = len(long) - len(short)
    return long == (1,) * more + short


def _is_even(shape: tuple[int, ...], order: Order) -> bool:
    """Tell whether a smaller operand is the same along all axes that move."""
    moved = (axis - len(order) for axis, source in enumerate(order) if axis != source)
    return all(shape[axis] == 1 for axis in moved if -axis <= len(shape))


def _order(op: Operator | None, net: Net) -> Order | None:
    """Return the order in which a TRANSPOSE puts axes; None for other operators, and where that is not known."""
    source = net.tensor(op.inputs[0]) if op is not None and op.kind == "TRANSPOSE" and op.inputs else None
    if op is None or source is None or not source.shape or len(op.outputs) != 1:
        return None
    output, axes = net.graph.tensors[op.outputs[0]], net.integers(op, 1)
    rank = len(source.shape)
    order = tuple(axis % rank for axis in axes or ())
    is_move = sorted(order) == [*range(rank)] and output.shape == in_order(source.shape, order)
    is_alike = (source.dtype, source.quantization) == (output.dtype, output.quantization)
    return order if is_move and is_alike and not source.is_variable else None


def _comes_first(values: _Product, order: Order, net: Net) -> bool:
    """Tell whether an order puts the rows of products before all other axes that are longer than 1, columns last."""
    output = values.operator.outputs[0]
    shape, mine = net.graph.tensors[output].shape, _of(output, order, net)
    first = next((axis for axis in mine if shape[axis] > 1), None)
    return mine[-1] == len(mine) - 1 and first == len(mine) - 2


def _rename(old: int, new: int | None, net: Net) -> None:
    for place in [*net.readers[old]]:
        op = net.operators[place]
        if op is not None and new is not None:
            net.put(place, renamed(op, {old: new}))


def _put_with_axes(place: int, back: Order, order: Order, net: Net) -> None:
    """Give a product its axes, and those of a TRANSPOSE of its right side, which goes if nothing else reads that."""
    op = net.operators[place]
    assert op is not None
    assert isinstance(op.options, BatchMatMul)
    left, right = op.inputs
    assert left is not None
    assert right is not None
    source, axes = _turned(op, right, net)
    own = _of(left, back, net), _of(op.outputs[0], order, net)
    options = replace(op.options, left_axes=own[0], right_axes=axes, output_axes=own[1])
    net.put(place, replace(op, inputs=(left, source), options=options))


def _turned(op: Operator, right: int, net: Net) -> tuple[int, Order | None]:
    """Return what a TRANSPOSE turned for the right side, also behind a view, and take both out; else the right side."""
    passed, tensor = list[int](), right
    while _is_between(tensor, net) and (turn := net.producer(tensor)) is not None and turn.inputs:
        source = turn.inputs[0]
        if source is None or not net.pins.may_join(net.index, turn, op):
            break
        passed.append(net.writers[tensor])
        axes = _order(turn, net)
        if axes is not None:
            for place in passed:
                net.put(place, None)
            return source, axes
        shapes = net.graph.tensors[source].shape, net.graph.tensors[tensor].shape
        if turn.kind != "VIEW" or not _is_alike(turn, *shapes):
            break
        tensor = source
    return right, None
