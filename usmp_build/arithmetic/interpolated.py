"""Functions of an int16, as tables of 513 values between which the C interpolates.

Computed in float32, as TensorFlow Lite Micro fills them.  C looks values up in `kernels/portable/c/interpolated.h`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from usmp_build.arithmetic.fixed_point import round_half_away, single

STEPS = 512
"""From the first value of a table to its last one."""
_ONE = 32768
"""1.0 in a table."""
_FAR = 1e12
"""A limit far outside of int16, so that infinities can be subtracted."""


def exponential(x: float) -> float:
    """e^x."""
    return math.exp(x)


def reciprocal(x: float) -> float:
    """1 / (1 + x)."""
    return 1 / single(1 + x)


def table(function: Callable[[float], float], low: float, high: float, per_one: float = _ONE) -> bytes:
    """Return the values of a function from `low` to `high`: little-endian int16, where `per_one` is 1.0.

    Each is moved by half of what interpolation would be off in the middle of its step.
    """
    step = single((high - low) / STEPS)

    def value(place: float) -> float:
        return max(-_FAR, min(single(single(function(place)) * per_one), _FAR))

    values = []
    for i in range(STEPS):
        first = single(low + single(i * step))
        here, following = value(first), value(single(low + single((i + 1) * step)))
        between = round_half_away(single((following + round_half_away(here)) / 2))
        off = between - round_half_away(value(single(first + step / 2)))
        values.append(round_half_away(here) - round_half_away(off / 2))
    values.append(round_half_away(value(high)))
    return np.clip(values, -_ONE, _ONE - 1).astype("<i2").tobytes()
