"""Models operators that work channel by channel: each output channel depends only on the same channels of inputs.

If such an operator loses a channel, all its tensors lose it: their channels are tied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np

from usmp_build.arithmetic.vectors import Integers
from usmp_build.frozen import frozen
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.options import Activation
from usmp_build.operators.joining import Concatenation
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.table import traits
from usmp_build.operators.values.interval import Interval
from usmp_build.operators.values.quantized import (
    Opaque,
    channels,
    constant_value,
    is_tracked,
    limits,
    operand,
    quantized,
)
from usmp_build.operators.values.transfer import Transfer, rescaled
from usmp_build.passes.rewrite.constant_channels.sums import Tie


@frozen
class Channelwise:
    """An operator that works channel by channel."""

    target: int
    ties: tuple[Tie, ...]
    operands: tuple[tuple[int, Integers], ...]
    """Tensors, each with the channel that every channel of the output reads."""
    transfer: Transfer

    @property
    def tensors(self) -> tuple[int, ...]:
        """Tensors that may lose channels here."""
        return tuple(tensor for tie in self.ties for tensor in (tie.source, tie.target))

    def output(self, intervals: Mapping[int, Interval]) -> Interval:
        """Return the interval of each channel of the output."""
        return self.transfer([intervals[tensor].taken(which) for tensor, which in self.operands])


def read_channelwise(op: Operator, graph: Subgraph) -> Channelwise:
    """Return an operator as channelwise.  Raises Opaque if it cannot be analyzed."""
    if len(op.outputs) != 1 or not op.inputs or not is_tracked(graph.tensors[op.outputs[0]]):
        raise Opaque
    if op.kind in _READERS:
        return _READERS[op.kind](op, graph)
    elementwise = traits(op.kind).elementwise
    if elementwise is None or elementwise.int8 is None:
        raise Opaque
    return _same_channels(op, graph, range(elementwise.operands), elementwise.int8.transfer(op, graph))


def _same_channels(op: Operator, graph: Subgraph, positions: Sequence[int], transfer: Transfer) -> Channelwise:
    """Return an operator whose operands have the output's channels, or a single one for all of them."""
    target = op.outputs[0]
    count = channels(graph.tensors[target])
    all_channels = np.arange(count)
    operands, ties = [], []
    for position in positions:
        index = op.inputs[position] if position < len(op.inputs) else None
        if index is None or not is_tracked(graph.tensors[index]) or channels(graph.tensors[index]) not in (1, count):
            raise Opaque
        if channels(graph.tensors[index]) == count:
            operands.append((index, all_channels))
            ties.append(Tie(index, target, all_channels, all_channels))
        else:
            operands.append((index, np.zeros(count, np.int64)))
    return Channelwise(target, tuple(ties), tuple(operands), transfer)


def _pool(op: Operator, graph: Subgraph) -> Channelwise:
    """Return a pooling: mean and maximum lie within the interval of the input; no window is all padding."""
    options = op.options
    if not isinstance(options, Pool2D):
        raise Opaque
    ends, outside = limits(options.activation, graph.tensors[op.outputs[0]], options.limits), options.outside

    def transfer(operands: Sequence[Interval]) -> Interval:
        seen = operands[0] if outside is None else _with_value(operands[0], outside)
        return seen.clipped(*ends)

    return _one_to_one(op, graph, transfer)


def _one_to_one(op: Operator, graph: Subgraph, transfer: Transfer) -> Channelwise:
    source = operand(op, graph, 0)
    if source is None or channels(source) != channels(graph.tensors[op.outputs[0]]):
        raise Opaque
    return _same_channels(op, graph, (0,), transfer)


def _mean(op: Operator, graph: Subgraph) -> Channelwise:
    source = operand(op, graph, 0)
    axes = constant_value(operand(op, graph, 1), DType.INT32).reshape(-1).tolist()
    if source is None or not all(-len(source.shape) <= axis < len(source.shape) for axis in axes):
        raise Opaque
    reduced = {axis % len(source.shape) for axis in axes}
    if len(source.shape) - 1 in reduced:
        raise Opaque
    count = prod(source.shape[axis] for axis in reduced)
    if count >= 1 << 23:
        raise Opaque  # the sum of as many bytes may not fit an int32
    return _one_to_one(op, graph, rescaled(source, graph.tensors[op.outputs[0]], Activation.NONE, count))


def _pad(op: Operator, graph: Subgraph) -> Channelwise:
    """Return a padding: the interval includes the padding value."""
    source, output, value = operand(op, graph, 0), graph.tensors[op.outputs[0]], operand(op, graph, 2)
    paddings = operand(op, graph, 1)
    amounts = constant_value(paddings, paddings.dtype if paddings else DType.INT32).reshape(-1).tolist()
    if source is None or len(amounts) != 2 * len(source.shape) or any(amounts[-2:]):
        raise Opaque
    number = quantized(output).zero_point if value is None else int(constant_value(value, DType.INT8).reshape(-1)[0])
    return _one_to_one(op, graph, lambda operands: _with_value(operands[0], number))


def _with_value(interval: Interval, value: int) -> Interval:
    return Interval(np.minimum(interval.low, value), np.maximum(interval.high, value))


def _concatenation(op: Operator, graph: Subgraph) -> Channelwise:
    """Return a concatenation, of channels or of pixels with the same channels."""
    options, target = op.options, op.outputs[0]
    output = graph.tensors[target]
    sources = [index for index in op.inputs if index is not None]
    if not isinstance(options, Concatenation) or options.activation is not Activation.NONE or not output.shape:
        raise Opaque
    if not all(_is_alike(graph.tensors[index], output) for index in sources) or len(sources) != len(op.inputs):
        raise Opaque
    if options.axis % len(output.shape) != len(output.shape) - 1:
        return _same_channels(op, graph, range(len(sources)), _joined)
    ties, first = [], 0
    for index in sources:
        source_channels = np.arange(channels(graph.tensors[index]))
        ties.append(Tie(index, target, source_channels, source_channels + first))
        first += len(source_channels)
    if first != channels(output):
        raise Opaque
    operands = tuple((tie.source, tie.source_channels) for tie in ties)
    return Channelwise(target, tuple(ties), operands, _side_by_side)


def _is_alike(source: Tensor, output: Tensor) -> bool:
    return is_tracked(source) and quantized(source) == quantized(output) and len(source.shape) == len(output.shape)


def _joined(operands: Sequence[Interval]) -> Interval:
    result = operands[0]
    for other in operands[1:]:
        result = result.joined(other)
    return result


def _side_by_side(operands: Sequence[Interval]) -> Interval:
    return Interval(np.concatenate([each.low for each in operands]), np.concatenate([each.high for each in operands]))


def _shape_only(op: Operator, graph: Subgraph) -> Channelwise:
    """Return an operator that keeps all bytes, where the channels of one side are a multiple of the other's."""
    source, target = op.inputs[0], op.outputs[0]
    if source is None or not is_tracked(graph.tensors[source]):
        raise Opaque
    before, after = channels(graph.tensors[source]), channels(graph.tensors[target])
    longer = np.arange(max(before, after))
    if graph.tensors[source].elements != graph.tensors[target].elements or len(longer) % min(before, after):
        raise Opaque
    tie = Tie(source, target, longer % before, longer % after)
    repeats = len(longer) // after

    def transfer(operands: Sequence[Interval]) -> Interval:
        low, high = operands[0].low.reshape(repeats, after), operands[0].high.reshape(repeats, after)
        return Interval(low.min(0), high.max(0))

    return Channelwise(target, (tie,), ((source, tie.source_channels),), transfer)


_READERS: Mapping[str, Callable[[Operator, Subgraph], Channelwise]] = {
    "AVERAGE_POOL_2D": _pool,
    "CONCATENATION": _concatenation,
    "EXPAND_DIMS": _shape_only,
    "MAX_POOL_2D": _pool,
    "MEAN": _mean,
    "PAD": _pad,
    "PADV2": _pad,
    "RESHAPE": _shape_only,
    "SQUEEZE": _shape_only,
    "VIEW": _shape_only,
}
"""Operator kind → its reader, for kinds that are not elementwise."""
