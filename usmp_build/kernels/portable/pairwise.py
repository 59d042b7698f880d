"""Functions of two operands, which are broadcast: extremes, quotients, squared differences, and PRELU."""

from __future__ import annotations

from usmp_build.arithmetic.fixed_point import quantize, single
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.activation import quantized_limits, real_limits, whole_limits
from usmp_build.kernels.names import c_name
from usmp_build.kernels.node import (
    Node,
    check_plain,
    check_symmetric,
    unsupported_types,
)
from usmp_build.kernels.portable.broadcasting import in_pairs
from usmp_build.kernels.requantization import factor, operand_fields, output_fields, scale_fields
from usmp_build.operators.binary import Binary

_COMPARED = DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.FLOAT32
_QUANTIZED = {DType.INT8, DType.INT16}
_UNITS = {DType.INT8: 1 << 7, DType.INT16: 1}
"""What SQUARED_DIFFERENCE multiplies operands with: as much as the square leaves of 32 bits."""


def extreme(node: Node) -> Kernel:
    """MAXIMUM and MINIMUM, of integers as they are: converters quantize all sides in the same way."""
    return in_pairs(node, c_name(node.operator.kind.lower(), _type(node, *_COMPARED)))


def squared_difference(node: Node) -> Kernel:
    """SQUARED_DIFFERENCE: int8 and int16 by way of one scale for both operands."""
    name = c_name("squared_difference", _type(node, DType.INT8, DType.INT16, DType.INT32, DType.FLOAT32))
    first, second, output = _tensors(node)
    if output.dtype not in _QUANTIZED:
        if output.dtype is DType.INT32:
            check_plain(node, first, second, output)
        return in_pairs(node, name)
    if output.dtype is DType.INT16:
        check_symmetric(node, first, second, output)
    unit = _UNITS[output.dtype]
    scales = node.scale(first), node.scale(second)
    common = 2 * max(scales)
    one, other = (quantize(scale / common) for scale in scales)
    scale = factor(node, common * common / single(unit * unit * node.scale(output)))
    fields = (
        ("unit", unit),
        *operand_fields(node, (first, one), (second, other)),
        *scale_fields(scale, "output"),
        *output_fields(node, quantized_limits(node, Activation.NONE, output)),
    )
    return in_pairs(node, name, fields, "squared_difference_parameters")


def divide(node: Node) -> Kernel:
    """DIV: integers that nothing quantizes towards 0."""
    dtype, options = _type(node, DType.INT8, DType.INT32, DType.FLOAT32), node.options(Binary)
    name, struct = c_name("div", dtype), c_name("div", dtype, part="parameters")
    first, second, output = _tensors(node)
    if dtype is DType.FLOAT32:
        low, high = real_limits(options.activation, options.limits)
        return in_pairs(node, name, (("low", low), ("high", high)), struct)
    if dtype is DType.INT32:
        check_plain(node, first, second, output)
        least, most = whole_limits(options.activation, options.limits)
        return in_pairs(node, name, (("low", least), ("high", most)), struct)
    divisor = single(node.scale(second) * node.scale(output))
    scale = factor(node, single(node.scale(first) / divisor))
    fields = (
        ("first_zero_point", node.zero_point(first)),
        ("second_zero_point", node.zero_point(second)),
        *scale_fields(scale),
        *output_fields(node, quantized_limits(node, options.activation, output)),
    )
    return in_pairs(node, name, fields, struct)


def floored(node: Node) -> Kernel:
    """FLOOR_DIV and FLOOR_MOD, also of indices."""
    name = c_name(node.operator.kind.lower(), _type(node, DType.INT32, DType.FLOAT32))
    if node.output.dtype is DType.INT32:
        check_plain(node, *_tensors(node))
    return in_pairs(node, name)


def prelu(node: Node) -> Kernel:
    """PRELU: for int8 and int16 also to another scale; the second operand of int16 is int8."""
    source, alpha, output = _tensors(node)
    types = source.dtype, alpha.dtype, output.dtype
    if types == (DType.FLOAT32,) * 3:
        return in_pairs(node, c_name("prelu", output.dtype))
    if types not in {(DType.INT8,) * 3, (DType.INT16, DType.INT8, DType.INT16)}:
        raise unsupported_types(*_tensors(node))
    above = factor(node, node.scale(source) / node.scale(output))
    below = factor(node, node.scale(source) * node.scale(alpha) / node.scale(output))
    fields = (
        ("input_zero_point", node.zero_point(source)),
        ("alpha_zero_point", node.zero_point(alpha)),
        *scale_fields(above),
        *scale_fields(below, "product"),
        *output_fields(node, quantized_limits(node, Activation.NONE, output)),
    )
    return in_pairs(node, c_name("prelu", output.dtype), fields, "prelu_parameters")


def _type(node: Node, *types: DType) -> DType:
    """Return the type of all operands, which is one of these."""
    if node.output.dtype not in types or len({tensor.dtype for tensor in _tensors(node)}) > 1:
        raise unsupported_types(*_tensors(node))
    return node.output.dtype


def _tensors(node: Node) -> tuple[Tensor, Tensor, Tensor]:
    return node.input(0), node.input(1), node.output
