"""The logistic function as a table from which the C also gets tanh: see `kernels/portable/c/logistic_s16.h`."""

from __future__ import annotations

import math

import numpy as np

_STEPS = 256
_STEPS_TO_ONE = 24
_ONE = 1 << 16


def table() -> bytes:
    """Return the logistic of 0, 1/24, 2/24, ... 255/24, as little-endian uint16 with 16 bits after the point.

    Each value is raised by half of what interpolation would be too low in the middle of its step; the last one, from
    which no step begins, is the largest that fits.

    >>> np.frombuffer(table(), "<u2")[[0, 1, 28, 254, 255]].tolist()
    [32768, 33451, 49975, 65534, 65535]
    """
    values = []
    for step in range(_STEPS - 1):
        first, middle, end = (_logistic((step + part) / _STEPS_TO_ONE) for part in (0, 0.5, 1))
        values.append(round(_ONE * (first + (middle - (first + end) / 2) / 2)))
    return np.array([*values, _ONE - 1]).astype("<u2").tobytes()


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))
