"""Selects the iterations of a loop that decide overlap distances, so that the others need not be looked at.

The distance from a byte written to a byte read later is a sum of strides, linear in every index, and so is largest at
the first or the last indices.  A window that is clipped at an end of its axis is not linear there: where clipping
begins and ends, all indices count.  Where a window touches only every n-th place, or stays for n rounds, distances
repeat after n indices but for a linear share: then n indices count at each corner.

    window over 9 pixels, padding 1     0 1 2 . . . 6 7 8
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.accesses import Window

_NEAR = 2
"""Number of indices kept on either side of a corner, at least."""


def corners(size: int, windows: Iterable[Window], most: int) -> NDArray[np.int64] | None:
    """Return the indices that decide a loop of `size` rounds, ascending; None if they may be more than `most`.

    `windows` are those that the loop moves.
    """
    moved = tuple(windows)
    period = max((max(window.every, window.repeat) for window in moved), default=1)
    if period > most:
        return np.arange(size, dtype=np.int64) if size <= most else None
    near = _NEAR + period if period > 1 else _NEAR
    ranges = [_around(end, end, size, near) for end in (0, size - 1)]
    for window in moved:
        reach = (window.taps - 1) * window.dilation
        for edge in (0, (window.size - 1) * window.every):
            first, last = (edge + window.before - reach) // window.step, (edge + window.before) // window.step
            if last - first > most:
                return np.arange(size, dtype=np.int64) if size <= most else None
            begin, end = first * window.repeat - window.phase, (last + 1) * window.repeat - window.phase
            ranges.append(_around(begin, end - 1, size, near))
    numbers = np.sort(np.concatenate(ranges))
    return numbers[np.diff(numbers, prepend=-1) > 0]  # np.unique would load masked arrays


def _around(first: int, last: int, size: int, near: int) -> NDArray[np.int64]:
    return np.arange(max(0, first - near), min(size, last + near + 1), dtype=np.int64)
