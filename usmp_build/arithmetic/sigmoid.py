"""LOGISTIC and TANH of int16, which interpolate in a table: how inputs of any scale get to its steps.

The table has 1 / (1 + e^-x) for x = 0, 1/24, ..., 255/24 as unsigned numbers with 16 bits after the point; C has the
interpolation in `kernels/reference/c/sigmoid_s16.c`.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

FRACTION_BITS = 15
"""Of the output."""
MOST_MULTIPLIER = (1 << 15) - 1
_PER_UNIT = 24 * 512
"""Steps between 0 and 1: 512 from one value of the table to the next."""
_MOST_SHIFT = 31
_TOLERANCE = 1e-3
"""Of the logarithm of a scale that counts as a power of 2."""


@cache
def table() -> bytes:
    """Return the table's 256 values.

    Lines between the values of a curve lie below it by up to a step's square times its second derivative over 8: half
    of that is added to each value.  The last one is the limit.
    """
    values = []
    for i in range(255):
        y = 1 / (1 + math.exp(-i / 24))
        bend = y * (1 - y) * (1 - 2 * y) / 24**2
        values.append(round((y - bend / 16) * 65536))
    return np.array([*values, 65535], "<u2").tobytes()


def power_of_two(scale: float) -> int | None:
    """Return the logarithm of a scale that is close to a power of 2."""
    logarithm = math.log2(scale)
    return round(logarithm) if abs(logarithm - round(logarithm)) < _TOLERANCE else None


def argument(scale: float, most_shift: int) -> tuple[int, int]:
    """Return multiplier and right shift that bring an input to the steps.

    Scales of 2^-12, up to 2^(most_shift - 12), take a multiplication without a shift.
    """
    power = power_of_two(scale)
    if power is not None and 0 <= power + 12 <= most_shift:
        return 3 << power + 12, 0
    real, shift = scale * _PER_UNIT, 0
    while real <= MOST_MULTIPLIER / 2 and shift < _MOST_SHIFT:
        real, shift = real * 2, shift + 1
    return int(real), shift
