"""Computes the bytes that the buffers of one operator need together, in its better direction.

In one direction the output may be below one input and above another one, but only as far as *that* direction allows.
So each direction is evaluated separately; no kernel provides the overlap of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from usmp_build import effort
from usmp_build.passes.effects import members_of
from usmp_build.planner.memory.extent import least_extent

Near: TypeAlias = Mapping[tuple[int, int], tuple[int, int]]
"""(written, read) buffer → two distances in bytes between their starts: if the read one is above, and if it is below.

They hold if the one is read for the last time when the other begins to live."""


def least_together(near: tuple[Near, ...], alive: int, dying: int, born: int, sizes: tuple[int, ...]) -> int:
    """Return the bytes that the `alive` buffers need together; a dying one may share bytes with one being born."""
    total = sum(sizes[buffer] for buffer in members_of(alive))
    meeting = ({(w, r): how for (w, r), how in each.items() if born >> w & 1 and dying >> r & 1} for each in near)
    return total - max((_saved(each, sizes) for each in meeting), default=0)


def _saved(near: Near, sizes: tuple[int, ...]) -> int:
    """Return the most bytes that buffers can share; buffers in no pair share none."""
    buffers = sorted({buffer for pair in near for buffer in pair})
    buffer_sizes = [sizes[buffer] for buffer in buffers]
    apart: dict[tuple[int, int], int] = {}
    for (written, read), (above, below) in near.items():
        for pair, distance in (((written, read), above), ((read, written), below)):
            apart[pair] = max(distance, apart.get(pair, distance))

    def separation(a: int, b: int) -> int:
        return apart.get((buffers[a], buffers[b]), buffer_sizes[a])

    extent = least_extent(buffer_sizes, separation) if len(buffers) <= effort.ORDERED_BUFFERS else None
    return sum(buffer_sizes) - extent if extent is not None else _by_pairs(near, sizes)


def _by_pairs(near: Near, sizes: tuple[int, ...]) -> int:
    """Return an upper bound on the bytes shared, without trying arrangements.

    Counted one after another (inputs, scratch, outputs, or the reverse), each adds the bytes that it does not share
    with those before it.  No buffer shares more than its size.
    """
    by_read: dict[int, int] = {}
    by_written: dict[int, int] = {}
    for (written, read), (above, below) in near.items():
        most = max(sizes[written] - above, sizes[read] - below)
        shared = max(0, min(sizes[written], sizes[read], most))
        by_written[written] = by_written.get(written, 0) + shared
        by_read[read] = by_read.get(read, 0) + shared
    return min(sum(min(sizes[buffer], amount) for buffer, amount in side.items()) for side in (by_read, by_written))
