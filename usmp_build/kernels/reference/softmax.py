"""SOFTMAX."""

from __future__ import annotations

from usmp_build.arithmetic.fixed_point import ONE, quantize, single
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Output, Parameters, Traffic, Whole
from usmp_build.ir.graph import DType
from usmp_build.kernels.reference.accesses_of_elements import row_by_row_accesses
from usmp_build.kernels.reference.node import Node, Unsupported, unsupported_types
from usmp_build.operators.reductions import Softmax

_INTEGER_BITS = 5
"""Bits before the point of an exponent."""
_LONGEST_ROW = 4095
"""Most elements whose sum of exponentials surely fits its 12 bits before the point."""

_OUTPUTS = {DType.INT8: ("softmax_s8", 1 / 256, -128, 0.0), DType.INT16: ("softmax_s8_s16", 1 / 65536, -32768, 0.001)}
"""Function, scale, zero point and the part of the scale by which it may be off."""


def softmax(node: Node) -> Kernel:
    """Exponentials along the last axis, divided by their sum."""
    source, output = node.input(0), node.output
    node.expect(len(source.shape) >= 1, "works on a tensor without dimensions")
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    size = source.shape[-1]
    rows = source.elements // size
    sizes = (("rows", rows), ("size", size))
    accesses = row_by_row_accesses(rows, size, (source.dtype.bits // 8, output.dtype.bits // 8))
    beta = single(node.options(Softmax).beta)
    if (source.dtype, output.dtype) == (DType.FLOAT32, DType.FLOAT32):
        parameters = Parameters("softmax_f32_parameters", (*sizes, ("beta", beta)))
        traffic = (Traffic(2 * source.size), Traffic(2 * output.size, 2 * output.size))
        operands = (Input(0), Output(0))
        return Kernel((KernelCall("softmax_f32", Whole(), operands, parameters, traffic, accesses=accesses),))
    if source.dtype is not DType.INT8 or output.dtype not in _OUTPUTS:
        raise unsupported_types(source, output)
    if size > _LONGEST_ROW:
        raise Unsupported(f"it sums rows of more than {_LONGEST_ROW:,} elements")
    function, scale, zero_point, tolerance = _OUTPUTS[output.dtype]
    if abs(node.scale(output) - scale) > tolerance * scale or node.zero_point(output) != zero_point:
        raise Unsupported(f"its output does not have the scale 1/{1 / scale:.0f} and the zero point {zero_point}")
    parameters = Parameters("softmax_s8_parameters", (*sizes, *_exponent_fields(node, beta)))
    traffic = (Traffic(3 * source.size), Traffic(written=output.size))
    return Kernel((KernelCall(function, Whole(), (Input(0), Output(0)), parameters, traffic, accesses=accesses),))


def _exponent_fields(node: Node, beta: float) -> tuple[tuple[str, int], ...]:
    """What is farther from the maximum than `reach` does not fit before the point, and its exponential is nothing."""
    real = min(beta * node.scale(node.input(0)) * (1 << (31 - _INTEGER_BITS)), ONE - 1.0)
    if not real > 1:
        message = f"has an input whose scale times beta is {real / (1 << (31 - _INTEGER_BITS)):g}: too small"
        raise node.error("K406", message, "quantize the model again; its input is as good as constant")
    factor = quantize(real)
    reach = ((1 << _INTEGER_BITS) - 1 << 31 - _INTEGER_BITS) >> factor.shift
    return (("multiplier", factor.multiplier), ("shift", factor.shift), ("reach", reach))


KERNELS = {"SOFTMAX": softmax}
