"""Functions of two operands, which are broadcast: extremes, quotients, squared differences, and PRELU."""

from __future__ import annotations

from usmp_build.arithmetic.fixed_point import Factor, quantize, single
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.reference.activation import quantized_limits, real_limits, whole_limits
from usmp_build.kernels.reference.broadcasting import in_pairs
from usmp_build.kernels.reference.node import (
    Node,
    check_plain,
    check_symmetric,
    unsupported_types,
)
from usmp_build.kernels.reference.requantization import factor
from usmp_build.operators.binary import Binary

_SUFFIXES = {
    DType.INT8: "s8", DType.INT16: "s16", DType.INT32: "s32", DType.INT64: "s64", DType.FLOAT32: "f32"
}  # fmt: skip
_QUANTIZED = {DType.INT8, DType.INT16}
_UNITS = {DType.INT8: 1 << 7, DType.INT16: 1}
"""What SQUARED_DIFFERENCE multiplies operands with: as much as the square leaves of 32 bits."""


def extreme(node: Node) -> Kernel:
    """MAXIMUM and MINIMUM, of integers as they are: converters quantize all sides in the same way."""
    return in_pairs(node, f"{node.operator.kind.lower()}_{_suffix(node, *_SUFFIXES)}")


def squared_difference(node: Node) -> Kernel:
    """SQUARED_DIFFERENCE: int8 and int16 by way of one scale for both operands."""
    suffix = _suffix(node, DType.INT8, DType.INT16, DType.INT32, DType.FLOAT32)
    first, second, output = _tensors(node)
    if output.dtype not in _QUANTIZED:
        if output.dtype is DType.INT32:
            check_plain(node, first, second, output)
        return in_pairs(node, f"squared_difference_{suffix}")
    if output.dtype is DType.INT16:
        check_symmetric(node, first, second, output)
    unit = _UNITS[output.dtype]
    scales = node.scale(first), node.scale(second)
    common = 2 * max(scales)
    one, other = (quantize(scale / common) for scale in scales)
    scale = factor(node, common * common / single(unit * unit * node.scale(output)))
    fields = (
        ("unit", unit),
        ("first_zero_point", node.zero_point(first)),
        ("first_multiplier", one.multiplier),
        ("first_shift", -one.shift),
        ("second_zero_point", node.zero_point(second)),
        ("second_multiplier", other.multiplier),
        ("second_shift", -other.shift),
        *_output_fields(node, scale, "output_multiplier", "output_shift"),
    )
    return in_pairs(node, f"squared_difference_{suffix}", fields, "squared_difference_parameters")


def divide(node: Node) -> Kernel:
    """DIV: integers that nothing quantizes towards 0."""
    suffix, options = _suffix(node, DType.INT8, DType.INT32, DType.FLOAT32), node.options(Binary)
    first, second, output = _tensors(node)
    if output.dtype is DType.FLOAT32:
        low, high = real_limits(options.activation, options.limits)
        return in_pairs(node, "div_f32", (("low", low), ("high", high)), "div_f32_parameters")
    if output.dtype is DType.INT32:
        check_plain(node, first, second, output)
        least, most = whole_limits(options.activation, options.limits)
        return in_pairs(node, "div_s32", (("low", least), ("high", most)), "div_s32_parameters")
    divisor = single(node.scale(second) * node.scale(output))
    scale = factor(node, single(node.scale(first) / divisor))
    fields = (
        ("first_zero_point", node.zero_point(first)),
        ("second_zero_point", node.zero_point(second)),
        *_output_fields(node, scale, "multiplier", "shift", options.activation),
    )
    return in_pairs(node, f"div_{suffix}", fields, "div_s8_parameters")


def floored(node: Node) -> Kernel:
    """FLOOR_DIV and FLOOR_MOD, also of indices."""
    suffix = _suffix(node, DType.INT32, DType.FLOAT32)
    if node.output.dtype is DType.INT32:
        check_plain(node, *_tensors(node))
    return in_pairs(node, f"{node.operator.kind.lower()}_{suffix}")


def prelu(node: Node) -> Kernel:
    """PRELU: for int8 and int16 also to another scale; the second operand of int16 is int8."""
    source, alpha, output = _tensors(node)
    types = source.dtype, alpha.dtype, output.dtype
    if types == (DType.FLOAT32,) * 3:
        return in_pairs(node, "prelu_f32")
    if types not in {(DType.INT8,) * 3, (DType.INT16, DType.INT8, DType.INT16)}:
        raise unsupported_types(*_tensors(node))
    above = factor(node, node.scale(source) / node.scale(output))
    below = factor(node, node.scale(source) * node.scale(alpha) / node.scale(output))
    fields = (
        ("input_zero_point", node.zero_point(source)),
        ("alpha_zero_point", node.zero_point(alpha)),
        ("multiplier", above.multiplier),
        ("shift", above.shift),
        *_output_fields(node, below, "product_multiplier", "product_shift"),
    )
    return in_pairs(node, f"prelu_{_SUFFIXES[output.dtype]}", fields, "prelu_parameters")


def _output_fields(
    node: Node, scale: Factor, multiplier: str, shift: str, activation: Activation = Activation.NONE
) -> tuple[tuple[str, int], ...]:
    """Return how numbers become those of the output: scaled, limited, and moved."""
    low, high = quantized_limits(node, activation, node.output)
    return (
        (multiplier, scale.multiplier),
        (shift, scale.shift),
        ("output_zero_point", node.zero_point(node.output)),
        ("low", low),
        ("high", high),
    )


def _suffix(node: Node, *types: DType) -> str:
    """Return the suffix of functions for the type of all operands, which is one of these."""
    if node.output.dtype not in types or len({tensor.dtype for tensor in _tensors(node)}) > 1:
        raise unsupported_types(*_tensors(node))
    return _SUFFIXES[node.output.dtype]


def _tensors(node: Node) -> tuple[Tensor, Tensor, Tensor]:
    return node.input(0), node.input(1), node.output


KERNELS = {
    "DIV": divide,
    "FLOOR_DIV": floored,
    "FLOOR_MOD": floored,
    "MAXIMUM": extreme,
    "MINIMUM": extreme,
    "PRELU": prelu,
    "SQUARED_DIFFERENCE": squared_difference,
}
