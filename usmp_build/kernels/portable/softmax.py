"""SOFTMAX."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from usmp_build.arithmetic import interpolated
from usmp_build.arithmetic.fixed_point import ONE, quantize, single
from usmp_build.errors import KernelError
from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Traffic,
    Value,
    Whole,
)
from usmp_build.ir.graph import DType
from usmp_build.kernels.node import LARGEST, Node, Unsupported, unsupported_types
from usmp_build.kernels.portable.accesses_of_elements import row_by_row_accesses
from usmp_build.kernels.portable.pieces import elementwise
from usmp_build.kernels.requantization import factor
from usmp_build.operators.reductions import Softmax

_INTEGER_BITS = 5
"""Bits before the point of an exponent."""
LONGEST_ROW = 4095
"""Most elements whose sum of exponentials surely fits its 12 bits before the point."""

_REACH = 10
"""How far below its row's maximum an int16 still counts."""
_LONGEST_ROW_OF_INT16 = LARGEST // 32767
"""Most elements whose sum of exponentials, 1.0 each, surely fits."""

_OUTPUTS = {
    (DType.INT8, DType.INT8): ("softmax_s8", 256, -128, 0.0, LONGEST_ROW),
    (DType.INT8, DType.INT16): ("softmax_s8_s16", 65536, -32768, 0.001, LONGEST_ROW),
    (DType.INT16, DType.INT16): ("softmax_s16", 32768, 0, 0.001, _LONGEST_ROW_OF_INT16),
}
"""Function, steps to 1, zero point, the part of the scale by which it may be off, and the longest row."""


def softmax(node: Node) -> Kernel:
    """Exponentials along the last axis, divided by their sum."""
    source, output = node.input(0), node.output
    node.expect(len(source.shape) >= 1, "works on a tensor without dimensions")
    beta, types = single(node.options(Softmax).beta), (source.dtype, output.dtype)
    if types == (DType.FLOAT32, DType.FLOAT32):
        traffic = {0: Traffic(2 * source.size), 1: Traffic(2 * output.size, 2 * output.size)}
        return within_rows(node, "softmax_f32", "softmax_f32_parameters", traffic, ("beta", beta))
    if types not in _OUTPUTS:
        raise unsupported_types(source, output)
    function, steps, zero_point, tolerance, longest = _OUTPUTS[types]
    if source.shape[-1] > longest:
        raise Unsupported(f"it sums rows of more than {longest:,} elements")
    if abs(node.scale(output) * steps - 1) > tolerance or node.zero_point(output) != zero_point:
        raise Unsupported(f"its output does not have the scale 1/{steps} and the zero point {zero_point}")
    if source.dtype is DType.INT16:
        return _int16(node, beta)
    traffic = {0: Traffic(3 * source.size)}
    return within_rows(node, function, "softmax_s8_parameters", traffic, *exponent_fields(node, beta))


def _int16(node: Node, beta: float) -> Kernel:
    """Exponentials from a table, which wait in the output for the reciprocal of their sum, from another one."""
    source, output = node.input(0), node.output
    if node.zero_point(source):
        raise Unsupported("its input is an int16 with a zero point other than 0")
    real = node.scale(source) * beta / (_REACH / 65535)
    if not real > 0:
        raise _too_small(node, node.scale(source) * beta)
    to_table = factor(node, real)
    tables = (
        Constant("exponentials", DType.INT16, interpolated.table(interpolated.exponential, -_REACH, 0)),
        Constant("reciprocals", DType.INT16, interpolated.table(interpolated.reciprocal, 0, 1)),
    )
    twice, per_row = Traffic(2 * source.size), Traffic(4 * source.elements // source.shape[-1])
    traffic = {0: twice, 1: twice, 2: per_row, 3: Traffic(output.size, 2 * output.size)}
    fields = ("multiplier", to_table.multiplier), ("shift", to_table.shift)
    return within_rows(node, "softmax_s16", "softmax_s16_parameters", traffic, *fields, tables=tables)


def within_rows(
    node: Node,
    function: str,
    struct: str,
    traffic: Mapping[int, Traffic],
    *fields: tuple[str, Value],
    tables: tuple[Constant, ...] = (),
) -> Kernel:
    """Return the kernel of a function that makes each row along the last axis from that row of the input.

    It reads an element for the last time right before it writes there.  `fields` are its parameters after the number
    and the size of the rows; `tables` are operands between input and output; `traffic` is that of operands in all rows.
    """
    source, output = node.input(0), node.output
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    size = source.shape[-1]
    widths = (source.dtype.bits // 8, *(0 for _ in tables), output.dtype.bits // 8)
    operands: tuple[Operand, ...] = (Input(0), *(Derived(i) for i in range(len(tables))), Output(0))

    def kernel_of(axes: int) -> Kernel:
        rows = prod(source.shape[-axes:]) // size
        parameters = Parameters(struct, (("rows", rows), ("size", size), *fields))
        accesses = row_by_row_accesses(rows, size, widths)
        return Kernel((KernelCall(function, Whole(), operands, parameters, traffic, accesses=accesses),), tables)

    if source.shape != output.shape:
        return kernel_of(len(source.shape))
    return elementwise(node, kernel_of)


def exponent_fields(node: Node, beta: float) -> tuple[tuple[str, int], ...]:
    """What is farther from the maximum than `reach` does not fit before the point, and its exponential is nothing."""
    real = min(beta * node.scale(node.input(0)) * (1 << (31 - _INTEGER_BITS)), ONE - 1.0)
    if not real > 1:
        raise _too_small(node, real / (1 << (31 - _INTEGER_BITS)))
    scale = quantize(real)
    reach = ((1 << _INTEGER_BITS) - 1 << 31 - _INTEGER_BITS) >> scale.shift
    return (("multiplier", scale.multiplier), ("shift", scale.shift), ("reach", reach))


def _too_small(node: Node, scale: float) -> KernelError:
    message = f"has an input whose scale times beta is {scale:g}: too small"
    return node.error("K406", message, "quantize the model again; its input is as good as constant")


KERNELS = {"SOFTMAX": softmax}
