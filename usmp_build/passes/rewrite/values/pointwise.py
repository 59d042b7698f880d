"""Operators that make each element of their output from one element of each operand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from usmp_build.arithmetic import fixed_point, tables, vectors
from usmp_build.arithmetic.fixed_point import Factor
from usmp_build.arithmetic.hard_swish import hard_swish
from usmp_build.arithmetic.limits import LEAST, is_table
from usmp_build.arithmetic.vectors import Integers
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.ir.options import Activation, Binary, Lookup
from usmp_build.passes.rewrite.ranges import ACTIVATIONS
from usmp_build.passes.rewrite.values.interval import Interval, full
from usmp_build.passes.rewrite.values.quantized import Opaque, factor, limits, operand, quantized

Transfer: TypeAlias = Callable[[Sequence[Interval]], Interval]
"""From the intervals of the operands, one for each channel of the output, to that of the output."""

_FUNCTIONS = {"LOGISTIC": tables.logistic, "TANH": tables.tanh}


def scaled(ends: Interval, by: Factor, zero_point: int, limited: tuple[int, int]) -> Interval:
    """Scale, move and limit numbers; what may wrap may become anything within the limits."""
    safe = vectors.fits(ends.low, [by]) & vectors.fits(ends.high, [by])
    anything = full(len(ends.low), *limited)
    low, high = (
        np.clip(vectors.scale(np.where(safe, end, 0), [by]) + zero_point, *limited) for end in (ends.low, ends.high)
    )
    return Interval(np.where(safe, low, anything.low), np.where(safe, high, anything.high))


def mean(source: Tensor, output: Tensor, count: int) -> Transfer:
    """The mean of `count` elements: their sum is scaled, by a factor that divides, too."""
    before, after = quantized(source), quantized(output)
    by = fixed_point.divided(factor(before.scale / after.scale), count)
    limited = limits(Activation.NONE, output)

    def transfer(operands: Sequence[Interval]) -> Interval:
        low, high = ((end - before.zero_point) * count for end in (operands[0].low, operands[0].high))
        return scaled(Interval(low, high), by, after.zero_point, limited)

    return transfer


def _requantize(op: Operator, graph: Subgraph) -> Transfer:
    source, output = _source(op, graph), graph.tensors[op.outputs[0]]
    before, after = quantized(source), quantized(output)
    by = factor(before.scale / after.scale)
    limited = limits(ACTIVATIONS.get(op.kind, Activation.NONE), output)

    def transfer(operands: Sequence[Interval]) -> Interval:
        x = operands[0]
        return scaled(Interval(x.low - before.zero_point, x.high - before.zero_point), by, after.zero_point, limited)

    return transfer


def _relu6(op: Operator, graph: Subgraph) -> Transfer:
    """The input's scale counts, whatever the output's is."""
    limited = limits(Activation.RELU6, _source(op, graph))
    return lambda operands: operands[0].clipped(*limited)


def _table(op: Operator, graph: Subgraph) -> Transfer:
    before = quantized(_source(op, graph))
    if op.kind == "LOGISTIC" and quantized(graph.tensors[op.outputs[0]]).zero_point != LEAST:
        raise Opaque
    data = tables.of_scale(_FUNCTIONS[op.kind], before.scale, before.zero_point)
    if data is None:
        raise Opaque
    return _looked_up(np.frombuffer(data, np.int8).astype(np.int64))


def _hard_swish(op: Operator, graph: Subgraph) -> Transfer:
    data = hard_swish(quantized(_source(op, graph)), quantized(graph.tensors[op.outputs[0]]))
    if data is None:
        raise Opaque
    return _looked_up(np.frombuffer(data, np.int8).astype(np.int64))


def _lookup(op: Operator, _: Subgraph) -> Transfer:
    table = op.options.table if isinstance(op.options, Lookup) else ()
    if not is_table(table):
        raise Opaque
    return _looked_up(np.array(table, np.int64))


def _looked_up(values: Integers) -> Transfer:
    """Tables need not be monotone: look at every value between the ends."""

    def transfer(operands: Sequence[Interval]) -> Interval:
        x = operands[0]
        if x.is_constant.all():
            return Interval(values[x.low - LEAST], values[x.low - LEAST])
        parts = [values[a - LEAST : b - LEAST + 1] for a, b in zip(x.low.tolist(), x.high.tolist(), strict=True)]
        return Interval(np.array([part.min() for part in parts]), np.array([part.max() for part in parts]))

    return transfer


def _sum(op: Operator, graph: Subgraph) -> Transfer:
    """Both operands are brought to the same scale, with 20 more bits, and their sum to that of the output."""
    operands, output = _two(op, graph), graph.tensors[op.outputs[0]]
    points, limited = [quantized(each) for each in operands], _limits(op, output)
    common = 2 * max(point.scale for point in points)
    to_common = [_below_one(point.scale / common) for point in points]
    after = quantized(output)
    to_output = _below_one(common / ((1 << 20) * after.scale))

    def aligned(end: Integers, which: int) -> Integers:
        return vectors.scale((end - points[which].zero_point) << 20, [to_common[which]])

    def transfer(given: Sequence[Interval]) -> Interval:
        first, second = given
        low, high = aligned(second.low, 1), aligned(second.high, 1)
        if op.kind == "SUB":
            low, high = -high, -low
        ends = Interval(aligned(first.low, 0) + low, aligned(first.high, 0) + high)
        return scaled(ends, to_output, after.zero_point, limited)

    return transfer


def _product(op: Operator, graph: Subgraph) -> Transfer:
    (first, second), output = _two(op, graph), graph.tensors[op.outputs[0]]
    one, other, after = quantized(first), quantized(second), quantized(output)
    by, limited = factor(one.scale * other.scale / after.scale), _limits(op, output)

    def transfer(given: Sequence[Interval]) -> Interval:
        a = [end - one.zero_point for end in (given[0].low, given[0].high)]
        b = [end - other.zero_point for end in (given[1].low, given[1].high)]
        products = np.stack([x * y for x in a for y in b])
        return scaled(Interval(products.min(0), products.max(0)), by, after.zero_point, limited)

    return transfer


def _extreme(op: Operator, graph: Subgraph) -> Transfer:
    """The larger or the smaller number, as it is: all have the same parameters."""
    operands, output = _two(op, graph), graph.tensors[op.outputs[0]]
    if any(quantized(operand) != quantized(output) for operand in operands):
        raise Opaque
    choose = np.maximum if op.kind == "MAXIMUM" else np.minimum

    def transfer(given: Sequence[Interval]) -> Interval:
        first, second = given
        return Interval(choose(first.low, second.low), choose(first.high, second.high))

    return transfer


def _below_one(real: float) -> Factor:
    if not real < 1 or fixed_point.quantize(real).shift > 0:
        raise Opaque
    return fixed_point.quantize(real)


def _source(op: Operator, graph: Subgraph) -> Tensor:
    source = operand(op, graph, 0)
    if source is None:
        raise Opaque
    return source


def _two(op: Operator, graph: Subgraph) -> tuple[Tensor, Tensor]:
    first, second = operand(op, graph, 0), operand(op, graph, 1)
    if first is None or second is None:
        raise Opaque
    return first, second


def _limits(op: Operator, output: Tensor) -> tuple[int, int]:
    if not isinstance(op.options, Binary):
        raise Opaque
    return limits(op.options.activation, output, op.options.limits)


POINTWISE: Mapping[str, tuple[Callable[[Operator, Subgraph], Transfer], int]] = {
    "ADD": (_sum, 2),
    "HARD_SWISH": (_hard_swish, 1),
    "LOGISTIC": (_table, 1),
    "LOOKUP": (_lookup, 1),
    "MAXIMUM": (_extreme, 2),
    "MINIMUM": (_extreme, 2),
    "MUL": (_product, 2),
    "QUANTIZE": (_requantize, 1),
    "RELU": (_requantize, 1),
    "RELU6": (_relu6, 1),
    "RELU_N1_TO_1": (_requantize, 1),
    "SUB": (_sum, 2),
    "TANH": (_table, 1),
}
"""By kind: what makes a transfer function, and how many operands it has."""
