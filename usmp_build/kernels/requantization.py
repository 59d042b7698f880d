"""Quantizes the factors that follow from scales, as constants of a kernel."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from usmp_build.arithmetic.fixed_point import Factor, quantize
from usmp_build.interfaces.kernels import Constant
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels.node import Node

_LARGEST_SHIFT = 30
_LARGEST_WIDE_SHIFT = 7


def factor(node: Node, real: float) -> Factor:
    """Quantize a factor that the C will apply.  Raises KernelError when no int32 could hold what it makes of 1."""
    result = quantize(real) if real < 2.0**64 else Factor(1, 64)
    if result.shift > _LARGEST_SHIFT:
        help_ = "quantize the model again; the scale of the output is far too small for those of the inputs"
        raise node.error("K404", f"multiplies by {real:g} to reach the scale of its output: more than 2^30", help_)
    return result


def wide(node: Node, of_31_bits: Factor) -> Factor:
    """Round the multiplier of a factor to 15 bits, for sums of 48.  Raises KernelError for factors of 2^7 or more."""
    if of_31_bits.shift > _LARGEST_WIDE_SHIFT:
        help_ = "quantize the model again; the scale of the output is far too small for those of the inputs"
        raise node.error("K404", "multiplies sums of 48 bits by 2^7 or more to reach the scale of its output", help_)
    return Factor(min((of_31_bits.multiplier + (1 << 15)) >> 16, (1 << 15) - 1), of_31_bits.shift)


def scale_fields(by: Factor, of: str = "") -> tuple[tuple[str, int], ...]:
    """Return a factor as parameters; `of` says what of, if there are several."""
    before = f"{of}_" if of else ""
    return (f"{before}multiplier", by.multiplier), (f"{before}shift", by.shift)


def operand_fields(node: Node, *operands: tuple[Tensor, Factor]) -> tuple[tuple[str, int], ...]:
    """Return how two operands come to a common scale: less their zero points, multiplied, shifted to the right."""
    return tuple(
        field
        for name, (tensor, by) in zip(("first", "second"), operands, strict=True)
        for field in ((f"{name}_zero_point", node.zero_point(tensor)), *scale_fields(to_the_right(by), name))
    )


def to_the_right(by: Factor) -> Factor:
    """Return a factor whose shift counts to the right."""
    return Factor(by.multiplier, -by.shift)


def output_fields(node: Node, limits: tuple[int, int]) -> tuple[tuple[str, int], ...]:
    """Return how scaled numbers become those of the output; limits are less its zero point."""
    return ("output_zero_point", node.zero_point(node.output)), ("low", limits[0]), ("high", limits[1])


def factor_constants(factors: Iterable[Factor]) -> tuple[Constant, Constant]:
    """Return multipliers and shifts, one of each for every channel."""
    multipliers, shifts = zip(*factors, strict=True)
    return (
        int32_constant("multiplier", multipliers),
        Constant("shift", DType.INT8, np.array(shifts, np.int8).tobytes()),
    )


def factor_pairs(name: str, *factors: Factor) -> Constant:
    """Return each multiplier with its shift, for kernels that read them once."""
    return int32_constant(name, (number for factor in factors for number in factor))


def int32_constant(name: str, values: Iterable[int]) -> Constant:
    """Return a constant of int32."""
    return Constant(name, DType.INT32, np.array(tuple(values), "<i4").tobytes())
