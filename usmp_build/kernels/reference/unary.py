"""LOGISTIC, TANH, HARD_SWISH, RELU, RELU6 and LEAKY_RELU as separate operators, and LUTs that rewrites made."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, prod

from usmp_build.arithmetic import tables
from usmp_build.arithmetic.fixed_point import single
from usmp_build.arithmetic.hard_swish import hard_swish as of_hard_swish
from usmp_build.arithmetic.limits import LEAST, Quantized, is_table
from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Output,
    Parameters,
    Traffic,
    Whole,
)
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Activation
from usmp_build.kernels.reference.accesses_of_elements import elementwise_accesses
from usmp_build.kernels.reference.activation import quantized_limits
from usmp_build.kernels.reference.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.reference.pieces import each_element, elementwise
from usmp_build.kernels.reference.quantization import requantize
from usmp_build.kernels.reference.requantization import factor
from usmp_build.operators.unary import LeakyRelu, Lookup, leaky_factors


def logistic(node: Node) -> Kernel:
    """LOGISTIC: for int8 a table."""
    if not _is_int8(node):
        return each_element(node, "logistic_f32", "elements")
    if node.zero_point(node.output) != LEAST:
        raise Unsupported(f"its output has a zero point other than {LEAST}")
    return _lookup_kernel(node, _table(node, tables.logistic))


def tanh(node: Node) -> Kernel:
    """TANH: for int8 a table."""
    if _is_int8(node):
        return _lookup_kernel(node, _table(node, tables.tanh))
    return each_element(node, "tanh_f32", "elements")


def hard_swish(node: Node) -> Kernel:
    """HARD_SWISH: for int8 only."""
    if not _is_int8(node):
        raise unsupported_types(node.input(0), node.output)
    source, output = (Quantized(node.scale(each), node.zero_point(each)) for each in (node.input(0), node.output))
    table = of_hard_swish(source, output)
    if table is None:
        message = f"has scales, {source.scale:g} and {output.scale:g}, that its arithmetic cannot bring together"
        raise node.error("K407", message, "quantize the model again")
    return _lookup_kernel(node, table)


def lookup(node: Node) -> Kernel:
    """LOOKUP: the table is given."""
    table = node.options(Lookup).table
    if not _is_int8(node):
        raise Unsupported("its table is one of int8")
    node.expect(is_table(table), "has a table that does not have an int8 for each int8")
    return _lookup_kernel(node, bytes(value & 0xFF for value in table))


def relu(node: Node) -> Kernel:
    """RELU: for int8 also to another scale."""
    if _is_int8(node):
        return requantize(node, "s8_s8", quantized_limits(node, Activation.RELU, node.output))
    return each_element(node, "relu_f32", "elements")


def relu6(node: Node) -> Kernel:
    """RELU6: for int8 the input's scale counts, whatever the output's is."""
    if not _is_int8(node):
        return each_element(node, "relu6_f32", "elements")
    source = node.input(0)
    zero_point = node.zero_point(source)
    _, six = quantized_limits(node, Activation.RELU6, source)
    return each_element(node, "clamp_s8", "clamp_s8_parameters", ("low", zero_point), ("high", six + zero_point))


def leaky_relu(node: Node) -> Kernel:
    """LEAKY_RELU: for int8 and int16 also to another scale."""
    source, output, alpha = node.input(0), node.output, single(node.options(LeakyRelu).alpha)
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    node.expect(isfinite(alpha), f"multiplies by {alpha:g}")
    types = source.dtype, output.dtype
    if types == (DType.FLOAT32, DType.FLOAT32):
        return each_element(node, "leaky_relu_f32", "leaky_relu_f32_parameters", ("alpha", alpha))
    if types not in {(DType.INT8, DType.INT8), (DType.INT16, DType.INT16)}:
        raise unsupported_types(source, output)
    if alpha < 0:
        raise Unsupported("it multiplies integers by a number below 0")
    above, below = (factor(node, real) for real in leaky_factors(alpha, node.scale(source), node.scale(output)))
    low, high = quantized_limits(node, Activation.NONE, output)
    return each_element(
        node,
        "leaky_relu_s8" if source.dtype is DType.INT8 else "leaky_relu_s16",
        "leaky_relu_parameters",
        ("input_zero_point", node.zero_point(source)),
        ("multiplier", above.multiplier),
        ("shift", above.shift),
        ("alpha_multiplier", below.multiplier),
        ("alpha_shift", below.shift),
        ("output_zero_point", node.zero_point(output)),
        ("low", low),
        ("high", high),
    )


def _is_int8(node: Node) -> bool:
    source, output = node.input(0), node.output
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    types = (source.dtype, output.dtype)
    if types not in {(DType.INT8, DType.INT8), (DType.FLOAT32, DType.FLOAT32)}:
        raise unsupported_types(source, output)
    return source.dtype is DType.INT8


def _lookup_kernel(node: Node, table: bytes) -> Kernel:
    elements = node.output.elements
    traffic = (Traffic(elements), Traffic(elements), Traffic(written=elements))

    def kernel_of(axes: int) -> Kernel:
        size = prod(node.output.shape[-axes:])
        parameters, accesses = Parameters("elements", (("size", size),)), elementwise_accesses(size, (1, 0, 1))
        operands = (Input(0), Derived(0), Output(0))
        call = KernelCall("lookup_s8", Whole(), operands, parameters, traffic, accesses=accesses)
        return Kernel((call,), (Constant("table", DType.INT8, table),))

    return elementwise(node, kernel_of)


def _table(node: Node, function: Callable[[int], int]) -> bytes:
    source = node.input(0)
    table = tables.of_scale(function, node.scale(source), node.zero_point(source))
    if table is None:
        message = f"has an input whose scale, {node.scale(source):g}, is too small or too large for its table"
        raise node.error("K407", message, "quantize the model again")
    return table


KERNELS = {
    "HARD_SWISH": hard_swish,
    "LEAKY_RELU": leaky_relu,
    "LOGISTIC": logistic,
    "LOOKUP": lookup,
    "RELU": relu,
    "RELU6": relu6,
    "TANH": tanh,
}
