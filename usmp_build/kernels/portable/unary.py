"""Activations as separate operators, and LUTs that rewrites made."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from usmp_build.arithmetic import logistic as logistic_table
from usmp_build.arithmetic import sigmoid, tables
from usmp_build.arithmetic.fixed_point import single
from usmp_build.arithmetic.hard_swish import hard_swish as of_hard_swish
from usmp_build.arithmetic.limits import LEAST, Quantized, is_table
from usmp_build.errors import KernelError
from usmp_build.interfaces.kernels import Constant, Kernel
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Activation
from usmp_build.kernels.activation import quantized_limits
from usmp_build.kernels.names import c_name
from usmp_build.kernels.node import Node, Unsupported, check_symmetric, unsupported_types
from usmp_build.kernels.portable.pieces import each_element
from usmp_build.kernels.portable.quantization import requantize
from usmp_build.kernels.requantization import factor, output_fields, scale_fields
from usmp_build.operators.unary import LeakyRelu, Lookup, leaky_factors


def logistic(node: Node) -> Kernel:
    """LOGISTIC: for int8 a table, for int16 between the values of one."""
    dtype = type_of(node, DType.INT8, DType.INT16, DType.FLOAT32)
    if dtype is DType.FLOAT32:
        return each_element(node, "logistic_f32", "elements")
    if dtype is DType.INT16:
        return _sigmoid(node, "logistic_s16", most_shift=0)
    if node.zero_point(node.output) != LEAST:
        raise Unsupported(f"its output has a zero point other than {LEAST}")
    return lookup_kernel(node, _table(node, tables.logistic))


def tanh(node: Node) -> Kernel:
    """TANH: for int8 a table, for int16 between the values of one."""
    dtype = type_of(node, DType.INT8, DType.INT16, DType.FLOAT32)
    if dtype is DType.FLOAT32:
        return each_element(node, "tanh_f32", "elements")
    if dtype is DType.INT16:
        return _sigmoid(node, "tanh_s16", most_shift=1)
    return lookup_kernel(node, _table(node, tables.tanh))


def hard_swish(node: Node) -> Kernel:
    """HARD_SWISH: for int8 a table."""
    if type_of(node, DType.INT8, DType.FLOAT32) is DType.FLOAT32:
        return each_element(node, "hard_swish_f32", "elements")
    source, output = (Quantized(node.scale(each), node.zero_point(each)) for each in (node.input(0), node.output))
    table = of_hard_swish(source, output)
    if table is None:
        message = f"has scales, {source.scale:g} and {output.scale:g}, that its arithmetic cannot bring together"
        raise node.error("K407", message, "quantize the model again")
    return lookup_kernel(node, table)


def lookup(node: Node) -> Kernel:
    """LOOKUP: the table is given."""
    table = node.options(Lookup).table
    if {node.input(0).dtype, node.output.dtype} != {DType.INT8}:
        raise Unsupported("its table is one of int8")
    node.expect(is_table(table), "has a table that does not have an int8 for each int8")
    return lookup_kernel(node, bytes(value & 0xFF for value in table))


def relu(node: Node) -> Kernel:
    """RELU: for int8 and int16 also to another scale."""
    dtype = type_of(node, DType.INT8, DType.INT16, DType.FLOAT32)
    if dtype is DType.FLOAT32:
        return each_element(node, "relu_f32", "elements")
    if dtype is DType.INT16:
        check_symmetric(node, node.input(0), node.output)
    return requantize(node, quantized_limits(node, Activation.RELU, node.output))


def relu_0_to_1(node: Node) -> Kernel:
    """RELU_0_TO_1: for int8 also to another scale."""
    if type_of(node, DType.INT8, DType.FLOAT32) is DType.FLOAT32:
        return each_element(node, "relu_0_to_1_f32", "elements")
    zero, _ = quantized_limits(node, Activation.RELU, node.output)
    _, one = quantized_limits(node, Activation.RELU_N1_TO_1, node.output)
    return requantize(node, (zero, one))


def relu6(node: Node) -> Kernel:
    """RELU6: for int8 and int16 the input's scale counts, whatever the output's is."""
    dtype = type_of(node, DType.INT8, DType.INT16, DType.FLOAT32)
    if dtype is DType.FLOAT32:
        return each_element(node, "relu6_f32", "elements")
    source = node.input(0)
    zero_point = node.zero_point(source)
    _, six = quantized_limits(node, Activation.RELU6, source)
    struct = c_name("clamp", dtype, part="parameters")
    return each_element(node, c_name("clamp", dtype), struct, ("low", zero_point), ("high", six + zero_point))


def leaky_relu(node: Node) -> Kernel:
    """LEAKY_RELU: for int8 and int16 also to another scale."""
    source, output, alpha = node.input(0), node.output, single(node.options(LeakyRelu).alpha)
    node.expect_same_size()
    node.expect(isfinite(alpha), f"multiplies by {alpha:g}")
    types = source.dtype, output.dtype
    if types == (DType.FLOAT32, DType.FLOAT32):
        return each_element(node, "leaky_relu_f32", "leaky_relu_f32_parameters", ("alpha", alpha))
    if types not in {(DType.INT8, DType.INT8), (DType.INT16, DType.INT16)}:
        raise unsupported_types(source, output)
    above, below = (factor(node, real) for real in leaky_factors(alpha, node.scale(source), node.scale(output)))
    return each_element(
        node,
        c_name("leaky_relu", source.dtype),
        "leaky_relu_parameters",
        ("input_zero_point", node.zero_point(source)),
        *scale_fields(above),
        *scale_fields(below, "alpha"),
        *output_fields(node, quantized_limits(node, Activation.NONE, output)),
    )


def type_of(node: Node, *types: DType) -> DType:
    """Return the type of input and output, which must be the same, and one of these."""
    source, output = node.input(0), node.output
    node.expect_same_size()
    if source.dtype is not output.dtype or source.dtype not in types:
        raise unsupported_types(source, output)
    return source.dtype


def lookup_kernel(node: Node, table: bytes) -> Kernel:
    """Return the kernel of a function of int8, which has 256 values."""
    return each_element(node, "lookup_s8", "elements", table=Constant("table", DType.INT8, table))


def interpolating_kernel(node: Node, table: bytes) -> Kernel:
    """Return the kernel of a function of int16: it interpolates between the 513 values of a table."""
    return each_element(node, "lookup_s16", "elements", table=Constant("table", DType.INT16, table), values=2)


def _sigmoid(node: Node, function: str, most_shift: int) -> Kernel:
    """LOGISTIC or TANH of int16; `most_shift` is of scales that are powers of 2 and need no multiplication."""
    source, output = node.input(0), node.output
    check_symmetric(node, source, output)
    if sigmoid.power_of_two(node.scale(output)) != -sigmoid.FRACTION_BITS:
        raise Unsupported(f"its output does not have the scale 1/{1 << sigmoid.FRACTION_BITS}")
    multiplier, shift = sigmoid.argument(node.scale(source), most_shift)
    if multiplier > sigmoid.MOST_MULTIPLIER:
        raise _no_table(node)
    fields = ("multiplier", multiplier), ("shift", shift)
    table = Constant("table", DType.UINT16, logistic_table.table())
    return each_element(node, function, "sigmoid_s16_parameters", *fields, table=table, values=2)


def _table(node: Node, function: Callable[[int], int]) -> bytes:
    source = node.input(0)
    table = tables.of_scale(function, node.scale(source), node.zero_point(source))
    if table is None:
        raise _no_table(node)
    return table


def _no_table(node: Node) -> KernelError:
    scale = node.scale(node.input(0))
    message = f"has an input whose scale, {scale:g}, is too small or too large for its table"
    return node.error("K407", message, "quantize the model again")
