"""LOGISTIC and TANH of int16: how inputs of any scale become places in the table of `logistic`."""

from __future__ import annotations

import math

FRACTION_BITS = 15
"""Of the output."""
MOST_MULTIPLIER = (1 << 15) - 1
_PER_UNIT = 24 * 512
"""Places between 0 and 1: 512 from one value of the table to the next."""
_MOST_SHIFT = 31
_TOLERANCE = 1e-3
"""Of the logarithm of a scale that counts as a power of 2."""


def power_of_two(scale: float) -> int | None:
    """Return the logarithm of a scale that is close to a power of 2."""
    logarithm = math.log2(scale)
    return round(logarithm) if abs(logarithm - round(logarithm)) < _TOLERANCE else None


def argument(scale: float, most_shift: int) -> tuple[int, int]:
    """Return multiplier and right shift that bring an input to its place.

    Scales of 2^-12, up to 2^(most_shift - 12), take a multiplication without a shift.
    """
    power = power_of_two(scale)
    if power is not None and 0 <= power + 12 <= most_shift:
        return 3 << power + 12, 0
    real, shift = scale * _PER_UNIT, 0
    while real <= MOST_MULTIPLIER / 2 and shift < _MOST_SHIFT:
        real, shift = real * 2, shift + 1
    return int(real), shift
