"""Functions of one int8, as tables of their 256 values: gemmlowp's fixed-point logistic and tanh.

Numbers are int32 with 31 bits after the point, unless a count of bits before it is given.  C has the exponential
and the reciprocal in `kernels/portable/c/exponential.h`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from usmp_build.arithmetic.fixed_point import (
    ONE,
    Factor,
    multiply_high,
    round_half_away,
    scale,
    shift_left,
    shift_right,
)

INTEGER_BITS = 4
"""Before the point of a table's input."""

_LARGEST_SHIFT = 62
"""Up to which TensorFlow Lite Micro's arithmetic on 64 bits is defined."""

_EXP_OF_EIGHTH = 1895147668
"""e^(-1/8)"""
_THIRD = 715827883
_EXP_OF_POWERS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
"""e^(-1/4), e^(-1/2), e^-1, e^-2, e^-4, e^-8, e^-16"""
_48_17, _32_17 = 1515870810, 1010580540
"""The first approximation of a reciprocal is 48/17 - 32/17 x, with two bits before the point."""


@lru_cache(maxsize=256)
def of_scale(function: Callable[[int], int], scale: float, zero_point: int) -> bytes | None:
    """Return the values of a function for -128 to 127 as inputs of this scale; None where the scale is out of bounds.

    The input is brought to four bits before the point; what does not fit there is at the end of the range.  Remembered:
    rewrites and kernels ask for the same tables, and models for the same ones many times.
    """
    fraction, shift = math.frexp(scale * (1 << (31 - INTEGER_BITS)))
    if not 0 <= shift <= _LARGEST_SHIFT:
        return None
    factor = Factor(round_half_away(fraction * ONE), shift)
    return table(function, zero_point, factor, reach=((1 << INTEGER_BITS) - 1 << 31 - INTEGER_BITS) >> shift)


def table(function: Callable[[int], int], zero_point: int, factor: Factor, reach: int) -> bytes:
    """Return the values for -128 to 127; what is `reach` or farther from the zero point is at the end of the range."""
    values = []
    for value in range(-128, 128):
        distance = value - zero_point
        if abs(distance) >= reach:
            values.append(127 if distance > 0 and distance >= reach else -128)
        else:
            values.append(max(-128, min(127, function(scale(distance, factor)))))
    return bytes(value & 0xFF for value in values)


def logistic(x: int) -> int:
    """1 / (1 + e^-x), with a scale of 1/256 and a zero point of -128."""
    result = ONE // 2 if x == 0 else reciprocal(exp_of_negative(-abs(x), INTEGER_BITS))
    return shift_right(result if x >= 0 else ONE - 1 - result, 23) - 128


def tanh(x: int) -> int:
    """(1 - e^-2x) / (1 + e^-2x), with a scale of 1/128."""
    e = exp_of_negative(-abs(x), INTEGER_BITS + 1)
    result = 0 if x == 0 else shift_left(_near_reciprocal(e) - ONE // 4, 2)
    return shift_right(result if x >= 0 else -result, 24)


def exp_of_negative(x: int, integer_bits: int) -> int:
    """e^x for x <= 0: the part below a quarter by a series, the whole quarters by a factor for each of their bits."""
    if x == 0:
        return ONE - 1
    quarter = 1 << (29 - integer_bits)
    part = x % quarter - quarter
    result = _exp_of_quarter(part << integer_bits)
    for bit in range(integer_bits + 2):
        if (part - x) // quarter >> bit & 1:
            result = multiply_high(result, _EXP_OF_POWERS[bit])
    return result


def reciprocal(x: int) -> int:
    """1 / (1 + x) for x in [0, 1)."""
    return shift_left(_near_reciprocal(x), 1)


def _exp_of_quarter(x: int) -> int:
    """e^x for x in [-1/4, 0): e^(-1/8) times the Taylor series around -1/8, up to the fourth power."""
    y = x + ONE // 8
    y2 = multiply_high(y, y)
    y3, y4 = multiply_high(y2, y), multiply_high(y2, y2)
    higher = multiply_high(shift_right(y4, 2) + y3, _THIRD)
    return _EXP_OF_EIGHTH + multiply_high(_EXP_OF_EIGHTH, y + shift_right(higher + y2, 1))


def _near_reciprocal(x: int) -> int:
    """2 / (1 + x) for x in [0, 1), with two bits before the point, by three of Newton's steps."""
    half = (x + ONE) // 2
    result = _48_17 - multiply_high(half, _32_17)
    for _ in range(3):
        error = ONE // 4 - multiply_high(half, result)
        result += shift_left(multiply_high(result, error), 2)
    return result
