"""Fixed-point arithmetic as TensorFlow Lite Micro does it, on Python's integers.

A real factor f is kept as `multiplier * 2**(shift - 31)` with 2**30 <= multiplier < 2**31.  Applying it rounds twice:
once when the low 31 bits of the product go, once when the rest is shifted right.  The C side is
`kernels/portable/c/arithmetic.h`; `vectors.py` does it for whole arrays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

ONE = 1 << 31
"""1.0 with 31 fractional bits; the largest value that fits is `ONE - 1`."""


SUM_FRACTION_BITS = 20
"""By which ADD and SUB scale up both operands before they add them."""


class Factor(NamedTuple):
    """A real factor, ready for C."""

    multiplier: int
    shift: int


def single(value: float) -> float:
    """Round to float32."""
    return float(np.float32(value))


def round_half_away(value: float) -> int:
    """Round to the nearest integer; halves go away from zero, as C's `round` does.

    >>> round_half_away(2.5), round_half_away(-2.5), round_half_away(0.49999999999999994)
    (3, -3, 0)
    """
    below = math.floor(abs(value))
    magnitude = below + (abs(value) - below >= 0.5)
    return magnitude if value >= 0 else -magnitude


def quantize(factor: float) -> Factor:
    """Write a real factor as multiplier and shift; one too small to matter becomes 0.

    >>> quantize(0.5), quantize(1.0), quantize(3 * 2.0**-40)
    (Factor(multiplier=1073741824, shift=0), Factor(multiplier=1073741824, shift=1), Factor(multiplier=0, shift=0))
    """
    if factor == 0:
        return Factor(0, 0)
    fraction, shift = math.frexp(factor)
    multiplier = round_half_away(fraction * ONE)
    if multiplier == ONE:
        multiplier, shift = ONE // 2, shift + 1
    return Factor(multiplier, shift) if shift >= -31 else Factor(0, 0)


def multiply_high(a: int, b: int) -> int:
    """Multiply two numbers of 31 fractional bits: `a * b / 2**31`, rounded, halves upwards; -1 * -1 saturates."""
    return min((a * b + (1 << 30)) >> 31, ONE - 1)


def shift_right(value: int, count: int) -> int:
    """Divide by `2**count`, rounded; halves go away from zero.

    >>> shift_right(5, 1), shift_right(-5, 1), shift_right(-7, 0)
    (3, -3, -7)
    """
    magnitude = (abs(value) + ((1 << count) >> 1)) >> count
    return magnitude if value >= 0 else -magnitude


def shift_left(value: int, count: int) -> int:
    """Multiply by `2**count`, saturating at the ends of int32."""
    return max(-ONE, min(ONE - 1, value << count))


def scale(value: int, factor: Factor) -> int:
    """Apply a factor to an int32."""
    left, right = max(factor.shift, 0), max(-factor.shift, 0)
    return shift_right(multiply_high(wrap(value << left), factor.multiplier), right)


def divided(factor: Factor, count: int) -> Factor:
    """Return a factor that divides by a count, too, in as many bits as an int32 has left."""
    spare = min(count.bit_length() - 1, 32, 31 + factor.shift)
    return Factor((factor.multiplier << spare) // count, factor.shift - spare)


def wrap(value: int) -> int:
    """Keep the low 32 bits, as a signed number."""
    return (value + ONE) % (2 * ONE) - ONE
