"""Functions of one number: of floats as in <math.h>, of integers by tables."""

from __future__ import annotations

from usmp_build.arithmetic import functions
from usmp_build.arithmetic.limits import Quantized
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType
from usmp_build.kernels.node import Node, Unsupported, check_symmetric
from usmp_build.kernels.portable.pieces import each_element
from usmp_build.kernels.portable.unary import interpolating_kernel, lookup_kernel, type_of
from usmp_build.kernels.requantization import factor, scale_fields
from usmp_build.operators.unary import Gelu

_LARGEST_SHIFT = 31


def of_floats(node: Node) -> Kernel:
    """A function for which there are only floats."""
    type_of(node, DType.FLOAT32)
    return each_element(node, f"{node.operator.kind.lower()}_f32", "elements")


def absolute(node: Node) -> Kernel:
    """ABS: for int8 and int16 also to another scale."""
    dtype = type_of(node, DType.INT8, DType.INT16, DType.FLOAT32)
    if dtype is DType.FLOAT32:
        return of_floats(node)
    scale = factor(node, node.scale(node.input(0)) / node.scale(node.output))
    if dtype is DType.INT8:
        return lookup_kernel(node, functions.absolute(*_quantized(node)))
    check_symmetric(node, node.input(0), node.output)
    return each_element(node, "abs_s16", "abs_s16_parameters", *scale_fields(scale))


def elu(node: Node) -> Kernel:
    """ELU: for int8 a table."""
    return _tabulated(node, functions.elu, DType.INT8)


def exp(node: Node) -> Kernel:
    """EXP: for int8 a table, for int16 between the values of one."""
    return _tabulated(node, functions.exp, DType.INT8, DType.INT16)


def gelu(node: Node) -> Kernel:
    """GELU: for int8 a table, for int16 between the values of one."""
    approximate = node.options(Gelu).approximate
    if type_of(node, DType.INT8, DType.INT16, DType.FLOAT32) is DType.FLOAT32:
        return each_element(node, "gelu_tanh_f32" if approximate else "gelu_f32", "elements")
    return _tabulated(node, functions.gelu_tanh if approximate else functions.gelu, DType.INT8, DType.INT16)


def log(node: Node) -> Kernel:
    """LOG: for int8 a table, for int16 between the values of one."""
    return _tabulated(node, functions.log, DType.INT8, DType.INT16)


def sqrt(node: Node) -> Kernel:
    """SQRT: for int8 a table; of integers below it, 0."""
    dtype = type_of(node, DType.INT8, DType.INT16, DType.FLOAT32)
    if dtype is DType.FLOAT32:
        return of_floats(node)
    source, output = _quantized(node)
    if dtype is DType.INT8:
        return lookup_kernel(node, functions.sqrt(source, output))
    check_symmetric(node, node.input(0), node.output)
    fields = (("input_scale", source.scale), ("output_scale", output.scale))
    return each_element(node, "sqrt_s16", "sqrt_s16_parameters", *fields)


def _tabulated(node: Node, function: functions.Function, *integers: DType) -> Kernel:
    dtype = type_of(node, *integers, DType.FLOAT32)
    if dtype is DType.FLOAT32:
        return of_floats(node)
    if dtype is DType.INT8:
        return lookup_kernel(node, functions.table(function, *_quantized(node)))
    check_symmetric(node, node.input(0), node.output)
    source, output = _quantized(node)
    return interpolating_kernel(node, functions.interpolated(function, source.scale, output.scale))


def rsqrt(node: Node) -> Kernel:
    """RSQRT: for int8 a table; 0 and integers below it become the largest one."""
    dtype = type_of(node, DType.INT8, DType.INT16, DType.FLOAT32)
    if dtype is DType.FLOAT32:
        return of_floats(node)
    source, output = _quantized(node)
    multiplier, shift = factor(node, functions.rsqrt_factor(source, output))
    if dtype is DType.INT8:
        return lookup_kernel(node, functions.rsqrt(source, output))
    check_symmetric(node, node.input(0), node.output)
    shift -= functions.RSQRT_BITS
    if shift < -_LARGEST_SHIFT:
        raise Unsupported("its output is 0, whatever its input is")
    fields = (("multiplier", multiplier), ("shift", shift))
    return each_element(node, "rsqrt_s16", "rsqrt_s16_parameters", *fields)


def _quantized(node: Node) -> tuple[Quantized, Quantized]:
    source, output = (Quantized(node.scale(each), node.zero_point(each)) for each in (node.input(0), node.output))
    return source, output
