"""L2_NORMALIZATION and LOG_SOFTMAX: along the last axis, each element by what all of them have in common."""

from __future__ import annotations

from usmp_build.arithmetic.fixed_point import quantize
from usmp_build.interfaces.kernels import Input, Kernel, Value
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Activation
from usmp_build.kernels.node import LARGEST, Node, Unsupported, unsupported_types
from usmp_build.kernels.portable.softmax import LONGEST_ROW, exponent_fields, of_row, within_rows
from usmp_build.operators.reductions import L2Normalization

_WIDEST = 255
"""Between an int8 and its zero point."""


def l2_normalization(node: Node) -> Kernel:
    """Each element divided by the root of the sum of all squares."""
    activation = node.options(L2Normalization).activation
    if activation is not Activation.NONE:
        raise Unsupported(f"it has no kernel with the activation {activation.name}")
    source, struct = node.input(0), "l2_normalization_parameters"
    if _is_float(node):
        return _within_rows(node, "l2_normalization_f32", struct, 2, ("zero_point", 0))
    if source.shape[-1] * _WIDEST * _WIDEST > LARGEST:
        raise Unsupported(f"it sums squares of rows of {source.shape[-1]:,} elements, which may not fit 32 bits")
    _check_output(node, 128, 0)
    return _within_rows(node, "l2_normalization_s8", struct, 2, ("zero_point", node.zero_point(source)))


def log_softmax(node: Node) -> Kernel:
    """Each element less the logarithm of the sum of all exponentials."""
    if _is_float(node):
        return _within_rows(node, "log_softmax_f32", "log_softmax_f32_parameters", 3)
    if node.input(0).shape[-1] > LONGEST_ROW:
        raise Unsupported(f"it sums rows of more than {LONGEST_ROW:,} elements")
    _check_output(node, 16, 127)
    fields = dict(exponent_fields(node, beta=1.0))
    back = quantize((1 << (31 - fields["shift"])) / fields["multiplier"])
    others = ("back_multiplier", back.multiplier), ("back_shift", back.shift)
    return _within_rows(node, "log_softmax_s8", "log_softmax_s8_parameters", 3, *fields.items(), *others)


def _is_float(node: Node) -> bool:
    source, output = node.input(0), node.output
    node.expect(len(source.shape) >= 1, "works on a tensor without dimensions")
    if source.dtype is not output.dtype or source.dtype not in (DType.INT8, DType.FLOAT32):
        raise unsupported_types(source, output)
    return source.dtype is DType.FLOAT32


def _check_output(node: Node, steps: int, zero_point: int) -> None:
    """The arithmetic is of this scale, whatever that of the output is."""
    if node.scale(node.output) * steps != 1 or node.zero_point(node.output) != zero_point:
        raise Unsupported(f"its output does not have the scale 1/{steps} and the zero point {zero_point}")


def _within_rows(node: Node, function: str, struct: str, passes: int, *fields: tuple[str, Value]) -> Kernel:
    """Return the kernel of a function that passes over each row several times, and writes it in the last one."""
    return within_rows(node, function, struct, {Input(0): of_row(node.input(0), passes)}, *fields)
