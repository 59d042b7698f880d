"""Elementwise operators of two operands, which are broadcast to one shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

import numpy as np

from usmp_build.arithmetic import fixed_point, vectors
from usmp_build.arithmetic.fixed_point import Factor
from usmp_build.arithmetic.vectors import Integers
from usmp_build.frozen import frozen
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.options import Activation, Limits, Options, slot
from usmp_build.operators.general_rules import broadcastable, same_type
from usmp_build.operators.kind import (
    ArgumentType,
    Array,
    Evaluator,
    Fold,
    Int8,
    Int8Kernel,
    Known,
    OperatorKind,
    StoredOptions,
    elementwise,
    pure,
)
from usmp_build.operators.operands import Signature
from usmp_build.operators.values.interval import Interval
from usmp_build.operators.values.quantized import Opaque, factor, limits, operand, quantized
from usmp_build.operators.values.transfer import Transfer, scaled


@frozen
class Binary(Options):
    """ADD, SUB, MUL and DIV."""

    activation: Activation = field(default=Activation.NONE, metadata=slot(0, "b"))
    limits: Limits | None = None


def _sum(op: Operator, graph: Subgraph) -> Transfer:
    """Both operands are brought to the same scale, with 20 more bits, and their sum to that of the output."""
    operands, output = _two(op, graph), graph.tensors[op.outputs[0]]
    points, limited = [quantized(each) for each in operands], _limits(op, output)
    common = 2 * max(point.scale for point in points)
    to_common = [_below_one(point.scale / common) for point in points]
    after = quantized(output)
    to_output = _below_one(common / ((1 << fixed_point.SUM_FRACTION_BITS) * after.scale))

    def aligned(end: Integers, which: int) -> Integers:
        return vectors.scale((end - points[which].zero_point) << fixed_point.SUM_FRACTION_BITS, [to_common[which]])

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
    """The larger or the smaller number, as it is, whatever its scale."""
    if {tensor.dtype for tensor in (*_two(op, graph), graph.tensors[op.outputs[0]])} != {DType.INT8}:
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


def _two(op: Operator, graph: Subgraph) -> tuple[Tensor, Tensor]:
    first, second = operand(op, graph, 0), operand(op, graph, 1)
    if first is None or second is None:
        raise Opaque
    return first, second


def _limits(op: Operator, output: Tensor) -> tuple[int, int]:
    if not isinstance(op.options, Binary):
        raise Opaque
    return limits(op.options.activation, output, op.options.limits)


def _evaluator(function: Callable[[Array, Array], Array]) -> Evaluator:
    def evaluate(op: Operator, sources: Sequence[Tensor]) -> Array:
        if isinstance(op.options, Binary) and op.options.activation is not Activation.NONE:
            raise ValueError
        left, right = (source.as_array() for source in sources)
        return function(left, right)

    return evaluate


_SIGNATURE = Signature("first second", rules=(broadcastable("first", "second"),))
_ARGUMENTS = {"input_0": ArgumentType.SAME, "input_1": ArgumentType.SAME}


def _binary(
    name: str,
    *,
    symmetric: bool = False,
    bounds: bool = False,
    int8: Int8 | None = None,
    options: StoredOptions | None = None,
    arguments: Mapping[str, ArgumentType] = _ARGUMENTS,
) -> OperatorKind:
    return elementwise(
        name,
        _SIGNATURE,
        operands=2,
        symmetric=symmetric,
        bounds=bounds,
        int8=int8,
        options=options,
        arguments=arguments,
    )


def _calculation(
    name: str, table: str, function: Callable[[Array, Array], Array], int8: Int8, *, symmetric: bool
) -> OperatorKind:
    """ADD, SUB and MUL: also of shapes."""
    return elementwise(
        name,
        _SIGNATURE,
        operands=2,
        symmetric=symmetric,
        int8=int8,
        options=StoredOptions(Binary, table),
        extended=True,
        fold=Fold(Known.INTEGERS, _evaluator(function)),
        arguments=_ARGUMENTS,
    )


_EXTREME = Int8(_extreme, Int8Kernel.ARITHMETIC)

KINDS = (
    _calculation("ADD", "AddOptions", np.add, Int8(_sum, Int8Kernel.ARITHMETIC), symmetric=True),
    pure(
        "ADD_N",
        Signature("inputs*", rules=(same_type("output", "inputs"), broadcastable("inputs"))),
        keeps_axes=True,
    ),
    _binary("DIV", options=StoredOptions(Binary, "DivOptions")),
    _binary("FLOOR_DIV"),
    _binary("FLOOR_MOD"),
    _binary("MAXIMUM", symmetric=True, bounds=True, int8=_EXTREME),
    _binary("MINIMUM", symmetric=True, bounds=True, int8=_EXTREME),
    _calculation("MUL", "MulOptions", np.multiply, Int8(_product, Int8Kernel.ARITHMETIC), symmetric=True),
    _binary("PRELU", arguments={"input": ArgumentType.SAME, "alpha": ArgumentType.SAME}),
    _binary("SQUARED_DIFFERENCE"),
    _calculation("SUB", "SubOptions", np.subtract, Int8(_sum, Int8Kernel.ARITHMETIC), symmetric=False),
)
