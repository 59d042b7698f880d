"""Who overlaps whom: rectangles of steps and bytes, looked through along the timeline.

    offset ^   ___________
           |  |     a   __|______       a and b are alive together, and share bytes
           |  |________|__|  b   |
           |           |_________|
           +-+------------------+---> step

While step follows step, the buffers that are alive stand in a row, sorted by offset.  As long as none of them overlap,
a buffer that joins them overlaps one of its two neighbors, or none.

A buffer without bytes is a point: it may stand where others begin or end, but not between their bytes.  In the row it
comes before the buffer that begins where it stands, so ends ascend as offsets do.
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
    """Yield pairs of rectangles that overlap: none exactly if there are none, else one for each that joins too late.

    A rectangle without bytes overlaps what it lies strictly within; one without steps overlaps nothing.
    """
    some = np.flatnonzero(upper > lower)
    ends = offset + size
    order = _events(lower[some], upper[some])
    row: list[tuple[int, int, int]] = []
    left_out: set[int] = set()
    for event in order.tolist():
        index = int(some[event >> 1])
        mine = (int(offset[index]), int(ends[index]), index)
        at = bisect_left(row, mine)
        if not event & 1:
            if index not in left_out:
                del row[at]
            continue
        other = _neighbor(row, at, mine)
        if other is None:
            insort(row, mine)
        else:
            left_out.add(index)
            yield other, index


def _events(lower: npt.NDArray[np.int64], upper: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return twice the index, plus 1 for a birth, by step; deaths come first, for intervals are half-open."""
    steps = np.concatenate((upper, lower))
    born = np.repeat([0, 1], len(lower))
    which = np.tile(np.arange(len(lower)), 2)
    in_order = np.lexsort((which, born, steps))
    events: npt.NDArray[np.int64] = which[in_order] * 2 + born[in_order]
    return events


def _neighbor(row: list[tuple[int, int, int]], at: int, mine: tuple[int, int, int]) -> int | None:
    """Return who overlaps a newcomer whose place in the row is `at`."""
    if at > 0 and row[at - 1][1] > mine[0]:
        return row[at - 1][2]
    if at < len(row) and row[at][0] < mine[1]:
        return row[at][2]
    return None
