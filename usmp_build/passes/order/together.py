"""How many bytes do the buffers of one operator need, when it goes in the direction that needs fewest?

In one direction the output may be below one input and above another one, but only as far as *that* direction allows.
So the directions are weighed one by one; what both allow together, no kernel does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from usmp_build import effort
from usmp_build.passes.effects import members_of
from usmp_build.planner.memory.extent import least_extent

Near: TypeAlias = Mapping[tuple[int, int], tuple[int, int]]
"""Two buffers, one written and one read → how far the read one must start behind the written one if it is above it, and
the other way round; if the one is read for the last time when the other begins to live."""


def least_together(near: tuple[Near, ...], alive: int, dying: int, born: int, sizes: tuple[int, ...]) -> int:
    """Return the bytes that these buffers need at once; those may share some of which one dies, and one is born."""
    total = sum(sizes[buffer] for buffer in members_of(alive))
    meeting = ({(w, r): how for (w, r), how in each.items() if born >> w & 1 and dying >> r & 1} for each in near)
    return total - max((_saved(each, sizes) for each in meeting), default=0)


def _saved(near: Near, sizes: tuple[int, ...]) -> int:
    """Return the bytes that buffers share at the most; those that share none need not be looked at."""
    buffers = sorted({buffer for pair in near for buffer in pair})
    some = [sizes[buffer] for buffer in buffers]
    apart: dict[tuple[int, int], int] = {}
    for (written, read), (above, below) in near.items():
        for pair, distance in (((written, read), above), ((read, written), below)):
            apart[pair] = max(distance, apart.get(pair, distance))

    def separation(a: int, b: int) -> int:
        return apart.get((buffers[a], buffers[b]), some[a])

    extent = least_extent(some, separation) if len(buffers) <= effort.ORDERED_BUFFERS else None
    return sum(some) - extent if extent is not None else _by_pairs(near, sizes)


def _by_pairs(near: Near, sizes: tuple[int, ...]) -> int:
    """Say so without trying orders.

    Counted one after the other, each adds what it does not share with those before it: inputs, scratch, outputs, or
    the other way round.  Nobody shares more than all of itself.
    """
    given: dict[int, int] = {}
    taken: dict[int, int] = {}
    for (written, read), (above, below) in near.items():
        most = max(sizes[written] - above, sizes[read] - below)
        shared = max(0, min(sizes[written], sizes[read], most))
        taken[written] = taken.get(written, 0) + shared
        given[read] = given.get(read, 0) + shared
    return min(sum(min(sizes[buffer], amount) for buffer, amount in side.items()) for side in (given, taken))
