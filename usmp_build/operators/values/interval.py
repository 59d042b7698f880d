"""What a channel of a tensor may hold: every element of it lies in an interval."""

from __future__ import annotations

import numpy as np

from usmp_build.arithmetic.limits import LEAST, MOST
from usmp_build.arithmetic.vectors import Booleans, Integers
from usmp_build.frozen import frozen


@frozen
class Interval:
    """The least and the largest value for each channel; both ends belong to it, and `low <= high`."""

    low: Integers
    high: Integers

    @property
    def is_constant(self) -> Booleans:
        """Whether a channel holds one value only, wherever one looks."""
        return np.asarray(self.low == self.high)

    def joined(self, other: Interval) -> Interval:
        """Return what holds the values of both."""
        return Interval(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def clipped(self, low: int, high: int) -> Interval:
        """Return what is left when every value is limited."""
        return Interval(np.clip(self.low, low, high), np.clip(self.high, low, high))

    def taken(self, channels: Integers) -> Interval:
        """Return the intervals of these channels, in this order."""
        return Interval(self.low[channels], self.high[channels])


def full(channels: int, low: int = LEAST, high: int = MOST) -> Interval:
    """Nothing is known but the type, or the limits."""
    return Interval(np.full(channels, low, np.int64), np.full(channels, high, np.int64))
