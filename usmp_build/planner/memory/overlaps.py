"""Find rectangles of steps and bytes that overlap, in one sweep along the timeline.

    offset ^   ___________
           |  |     a   __|______       a and b are alive together, and share bytes
           |  |________|__|  b   |
           |           |_________|
           +-+------------------+---> step

The sweep keeps the buffers that are alive in a row sorted by offset.  As long as none of them overlap, a buffer that
joins them overlaps one of its two neighbors, or none.

An empty buffer is a point: it may be where others begin or end, but not between their bytes.  In the row it comes
before a buffer that begins at the same offset, so ends ascend as offsets do.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt


def overlaps(
    lower: npt.NDArray[np.int64],
    upper: npt.NDArray[np.int64],
    offset: npt.NDArray[np.int64],
    size: npt.NDArray[np.int64],
) -> Iterator[tuple[int, int]]:
    """Yield pairs of rectangles that overlap; none if and only if there are none.

    The arrays, each of shape (rectangles,), are steps [lower, upper), and offset and size in bytes.  Each rectangle is
    the second of at most one pair: it is then left out of the row.  A rectangle without bytes overlaps what it lies
    strictly within; one without steps overlaps nothing.
    """
    alive = np.flatnonzero(upper > lower)
    ends = offset + size
    order = _events(lower[alive], upper[alive])
    row: list[tuple[int, int, int]] = []
    left_out: set[int] = set()
    for event in order.tolist():
        index = int(alive[event >> 1])
        entry = (int(offset[index]), int(ends[index]), index)
        position = bisect_left(row, entry)
        if not event & 1:
            if index not in left_out:
                del row[position]
            continue
        other = _neighbor(row, position, entry)
        if other is None:
            insort(row, entry)
        else:
            left_out.add(index)
            yield other, index


def _events(lower: npt.NDArray[np.int64], upper: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return births (2 * index + 1) and deaths (2 * index) by step; deaths come first, as intervals are half-open."""
    steps = np.concatenate((upper, lower))
    born = np.repeat([0, 1], len(lower))
    which = np.tile(np.arange(len(lower)), 2)
    in_order = np.lexsort((which, born, steps))
    events: npt.NDArray[np.int64] = which[in_order] * 2 + born[in_order]
    return events


def _neighbor(row: list[tuple[int, int, int]], at: int, entry: tuple[int, int, int]) -> int | None:
    """Return the index of the neighbor that overlaps a new entry whose position in the row is `at`; None: neither."""
    if at > 0 and row[at - 1][1] > entry[0]:
        return row[at - 1][2]
    if at < len(row) and row[at][0] < entry[1]:
        return row[at][2]
    return None
