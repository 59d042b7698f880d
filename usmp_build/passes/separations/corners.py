"""Which indices of a loop are enough: those at which what a turn touches does not simply move on.

How far a byte that is written is from one that is read later is, index by index, a sum of strides, and so is largest
at the first or the last indices.  Windows that hang over an end of their axis move otherwise there: where they begin to
hang over and where they end to, all indices count.

    window over 9 pixels, padding 1     0 1 2 . . . 6 7 8
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.accesses import Window

_NEAR = 2
"""Indices on either side of one at which something changes: a turn, and the turns just before and after it."""


def corners(size: int, windows: Iterable[Window], most: int) -> NDArray[np.int64] | None:
    """Return the indices of a loop of `size` rounds that are enough, ascending; None if that may be more than `most`.

    `windows` are those that the loop moves.
    """
    found = [_around(0, 0, size), _around(size - 1, size - 1, size)]
    for window in windows:
        reach = (window.taps - 1) * window.dilation
        for edge in (0, window.size - 1):
            first, last = (edge + window.before - reach) // window.step, (edge + window.before) // window.step
            if last - first > most:
                return np.arange(size, dtype=np.int64) if size <= most else None
            found.append(_around(first, last, size))
    return np.unique(np.concatenate(found))


def _around(first: int, last: int, size: int) -> NDArray[np.int64]:
    return np.arange(max(0, first - _NEAR), min(size, last + _NEAR + 1), dtype=np.int64)
