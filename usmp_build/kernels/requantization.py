"""Quantizes the factors that follow from scales, as constants of a kernel."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from usmp_build.arithmetic.fixed_point import Factor, quantize
from usmp_build.interfaces.kernels import Constant
from usmp_build.ir.graph import DType
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
