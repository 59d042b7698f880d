"""The arithmetic of `fixed_point` on arrays of int64 whose elements are int32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.arithmetic.fixed_point import ONE, Factor

Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]


def wrap(values: Integers) -> Integers:
    """Keep the low 32 bits, as signed numbers."""
    return np.asarray((values + ONE) % (2 * ONE) - ONE, np.int64)


def scale(values: Integers, factors: Sequence[Factor]) -> Integers:
    """Apply to each index along the last axis its factor; one factor is for all."""
    multipliers, left, right = _split(factors)
    high = np.minimum((wrap(values << left) * multipliers + (1 << 30)) >> 31, ONE - 1)
    magnitude = (np.abs(high) + ((1 << right) >> 1)) >> right
    return np.asarray(np.where(high < 0, -magnitude, magnitude), np.int64)


def fits(values: Integers, factors: Sequence[Factor]) -> Booleans:
    """Tell of each number whether nothing wraps when it is scaled: between two such numbers, scaling is monotone.

    The numbers may be any that an int64 holds.
    """
    _, left, _ = _split(factors)
    return np.asarray((values >= -(ONE >> left)) & (values <= ((ONE - 1) >> left)))


def _split(factors: Sequence[Factor]) -> tuple[Integers, Integers, Integers]:
    """Return multipliers, and shifts to the left and to the right."""
    multipliers, shifts = np.array(factors, np.int64).T
    return multipliers, np.maximum(shifts, 0), np.maximum(-shifts, 0)
