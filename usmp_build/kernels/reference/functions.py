"""Functions of one number: of floats as in <math.h>, of int8 by tables."""

from __future__ import annotations

from usmp_build.arithmetic import functions
from usmp_build.arithmetic.limits import Quantized
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType
from usmp_build.kernels.reference.node import Node, Unsupported, check_symmetric
from usmp_build.kernels.reference.pieces import each_element
from usmp_build.kernels.reference.requantization import factor
from usmp_build.kernels.reference.unary import lookup_kernel, type_of
from usmp_build.operators.unary import Gelu

_OF_FLOATS = ("CEIL", "COS", "FLOOR", "LOG", "NEG", "ROUND", "SIN", "SQRT", "SQUARE")
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
    fields = (("multiplier", scale.multiplier), ("shift", scale.shift))
    return each_element(node, "abs_s16", "abs_s16_parameters", *fields)


def elu(node: Node) -> Kernel:
    """ELU: for int8 a table."""
    if type_of(node, DType.INT8, DType.FLOAT32) is DType.FLOAT32:
        return of_floats(node)
    return lookup_kernel(node, functions.elu(*_quantized(node)))


def exp(node: Node) -> Kernel:
    """EXP: for int8 a table."""
    if type_of(node, DType.INT8, DType.FLOAT32) is DType.FLOAT32:
        return of_floats(node)
    return lookup_kernel(node, functions.exp(*_quantized(node)))


def gelu(node: Node) -> Kernel:
    """GELU: for int8 a table."""
    approximate = node.options(Gelu).approximate
    if type_of(node, DType.INT8, DType.FLOAT32) is DType.FLOAT32:
        return each_element(node, "gelu_tanh_f32" if approximate else "gelu_f32", "elements")
    table = functions.gelu_tanh if approximate else functions.gelu
    return lookup_kernel(node, table(*_quantized(node)))


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


KERNELS = {
    **dict.fromkeys(_OF_FLOATS, of_floats),
    "ABS": absolute,
    "ELU": elu,
    "EXP": exp,
    "GELU": gelu,
    "RSQRT": rsqrt,
}
