"""SOFTMAX."""

from __future__ import annotations

from math import prod

from usmp_build.arithmetic import interpolated
from usmp_build.arithmetic.fixed_point import ONE, quantize, single
from usmp_build.errors import KernelError
from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, Output, Traffic, Value
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels.nest import Moved, Nest, aside, kernel, reads, writes
from usmp_build.kernels.node import LARGEST, Node, Unsupported, unsupported_types
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
        moved: Moved = {Input(0): of_row(source, 2), Output(0): of_row(source, 2, 2)}
        return within_rows(node, "softmax_f32", "softmax_f32_parameters", moved, ("beta", beta))
    if types not in _OUTPUTS:
        raise unsupported_types(source, output)
    function, steps, zero_point, tolerance, longest = _OUTPUTS[types]
    if source.shape[-1] > longest:
        raise Unsupported(f"it sums rows of more than {longest:,} elements")
    if abs(node.scale(output) * steps - 1) > tolerance or node.zero_point(output) != zero_point:
        raise Unsupported(f"its output does not have the scale 1/{steps} and the zero point {zero_point}")
    if source.dtype is DType.INT16:
        return _int16(node, beta)
    fields = exponent_fields(node, beta)
    return within_rows(node, function, "softmax_s8_parameters", {Input(0): of_row(source, 3)}, *fields)


def _int16(node: Node, beta: float) -> Kernel:
    """Exponentials from a table, which wait in the output for the reciprocal of their sum, from another one."""
    source = node.input(0)
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
    twice, two_values = of_row(source, 2), Traffic(4)
    moved: Moved = {Input(0): twice, Derived(0): twice, Derived(1): two_values, Output(0): of_row(source, 1, 2)}
    fields = ("multiplier", to_table.multiplier), ("shift", to_table.shift)
    return within_rows(node, "softmax_s16", "softmax_s16_parameters", moved, *fields, tables=tables)


def within_rows(
    node: Node,
    function: str,
    struct: str,
    moved: Moved,
    *fields: tuple[str, Value],
    tables: tuple[Constant, ...] = (),
) -> Kernel:
    """Return the kernel of a function that makes each row along the last axis from that row of the input.

    It passes over a row several times, and reads an element for the last time right before it writes there: `moved` is
    the traffic of operands in one row.  `fields` are its parameters after the number and the size of the rows; `tables`
    are operands between input and output.
    """
    source, output = node.input(0), node.output
    node.expect_same_size()
    size = source.shape[-1]
    spans = (reads(Input(0)), *(aside(Derived(i)) for i in range(len(tables))), writes(Output(0)))

    def kernel_of(axes: int) -> Kernel:
        rows = prod(source.shape[-axes:]) // size
        nest = Nest({"rows": rows, "elements": size}, spans)
        counts = ("rows", rows), ("size", size)
        in_rows = {operand: rows * each for operand, each in moved.items()}
        return kernel(node, function, nest, (*counts, *fields), struct=struct, constants=tables, moved=in_rows)

    return kernel_of(len(source.shape)) if source.shape != output.shape else elementwise(node, kernel_of)


def of_row(tensor: Tensor, reads: int, writes: int = 0) -> Traffic:
    """Return the traffic of a row whose elements are read and written so often."""
    return tensor.shape[-1] * tensor.dtype.bits // 8 * Traffic(reads, writes)


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
