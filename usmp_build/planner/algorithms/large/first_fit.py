"""First fit for timelines, in three orders; core/first_fit.cpp is the same in C++.

Each buffer is placed as low as those placed before it allow.  By load, buffers of the fullest sections come first, and
long-lived ones before short-lived ones.  By size, large ones come first; by length, long-lived ones, compared by the
power of two.  Both break ties by load.

Or buffers are stacked: next is always one that can be lowest on top of those placed before it.  That fills each valley
before anything is built across it, which suits long-lived buffers among many short-lived ones.
"""

from __future__ import annotations

from bisect import bisect_left
from enum import Enum
from heapq import heappop, heapreplace

import numpy as np

from usmp_build.planner.algorithms.large.sections import Alive, Sections, fullest
from usmp_build.planner.algorithms.large.tops import Tops
from usmp_build.planner.memory.timeline import Array

NOWHERE = -1
_STACKING = 16
"""Buffers visited in the time of one look at the top."""


class Order(Enum):
    """Which buffers are placed first."""

    LOAD = "load"
    SIZE = "size"
    LENGTH = "length"


class FirstFit:
    """A plan in the making: the offset of each buffer, or NOWHERE."""

    def __init__(self, sections: Sections, order: Order) -> None:
        self._sections = sections
        self.alive = Alive(sections)
        self.offsets = [NOWHERE] * len(sections.sizes)
        queue = _queue(sections, order)
        self._order: list[int] = queue.tolist()
        self.turns: list[int] = np.argsort(queue).tolist()
        """The position of each buffer in the order."""
        self.work = 0
        """Buffers visited."""

    def place_all(self, most: int) -> None:
        """Place all buffers; after `most` visits, put the rest on top of the others."""
        for buffer in self._order:
            if self.work >= most:
                break
            self.offsets[buffer] = self.least_free(buffer)
        self._pile_rest()

    def stack_all(self, by_area: bool, most: int) -> None:
        """Place all buffers, always one that can be lowest on top of those placed before it; the rest as above.

        Of several, the first in the order comes next, or the one of the fullest sections with the largest area.
        """
        firsts, lasts = self._sections.firsts, self._sections.lasts
        ranked = self._by_area() if by_area else self._order
        queue = [(0, rank) for rank in range(len(ranked))]  # the offset when it was last looked at
        tops = Tops(len(self._sections.loads))
        while queue and self.work < most:
            self.work += _STACKING
            floor, rank = queue[0]
            buffer = ranked[rank]
            alignment = self._sections.alignments[buffer]
            offset = -(-tops.highest(firsts[buffer], lasts[buffer]) // alignment) * alignment
            if offset > floor:
                heapreplace(queue, (offset, rank))
                continue
            heappop(queue)
            self.offsets[buffer] = offset
            tops.raise_to(self.end(buffer), firsts[buffer], lasts[buffer])
        self._pile_rest()

    def _by_area(self) -> list[int]:
        lives = zip(self._sections.firsts, self._sections.lasts, self._sections.sizes, strict=True)
        areas = [size * (last - first + 1) for first, last, size in lives]
        loads = fullest(self._sections).tolist()
        return sorted(self._order, key=lambda buffer: (-loads[buffer], -areas[buffer]))

    def least_free(self, buffer: int) -> int:
        """Return the least offset at which the buffer overlaps none that is alive together with it."""
        first, last = self._sections.firsts[buffer], self._sections.lasts[buffer]
        offsets, sizes = self.offsets, self._sections.sizes
        self.work += self._sections.alive(first, last)
        size, alignment = sizes[buffer], self._sections.alignments[buffer]
        taken = [(offsets[i], offsets[i] + sizes[i]) for i in self.alive.within(first, last) if offsets[i] >= 0]
        taken.sort()
        offset = 0
        for start, stop in taken:
            if offset + size <= start:
                break
            if offset < stop:
                offset = -(-stop // alignment) * alignment
        return offset

    def end(self, buffer: int) -> int:
        """Return where a placed buffer ends, in bytes."""
        return self.offsets[buffer] + self._sections.sizes[buffer]

    def peak(self) -> int:
        """Return the highest end, in bytes; all buffers are placed."""
        return max(map(int.__add__, self.offsets, self._sections.sizes))

    def _pile_rest(self) -> None:
        placed = [buffer for buffer in self._order if self.offsets[buffer] != NOWHERE]
        rest = [buffer for buffer in self._order if self.offsets[buffer] == NOWHERE]
        if not rest:
            return
        firsts, lasts = self._sections.firsts, self._sections.lasts
        skyline = _Skyline(len(self._sections.loads))
        for buffer in sorted(placed, key=self.end):
            skyline.tops[skyline.join(firsts[buffer], lasts[buffer])] = self.end(buffer)
        for buffer in rest:
            alignment = self._sections.alignments[buffer]
            step = skyline.join(firsts[buffer], lasts[buffer])
            self.offsets[buffer] = -(-skyline.tops[step] // alignment) * alignment
            skyline.tops[step] = self.end(buffer)


def _queue(sections: Sections, order: Order) -> Array:
    """Return the buffers in the order in which they are placed."""
    sizes = np.array(sections.sizes)
    lengths = np.array(sections.lasts) - np.array(sections.firsts) + 1
    first = {Order.LOAD: 0 * sizes, Order.SIZE: sizes, Order.LENGTH: np.frexp(lengths)[1]}[order]
    queue: Array = np.lexsort((-sizes, -lengths, -fullest(sections), -first))
    return queue


class _Skyline:
    """The top of all placed buffers as a step function over the sections."""

    def __init__(self, sections: int) -> None:
        self._starts = [0, sections]
        self.tops = [0, 0]
        """The top, in bytes, from each start to the next."""

    def join(self, first: int, last: int) -> int:
        """Make one step of the sections `first` to `last`, as high as the highest of them, and return its index."""
        step, stop = self._split(first), self._split(last + 1)
        self.tops[step] = max(self.tops[step:stop])
        del self._starts[step + 1 : stop], self.tops[step + 1 : stop]
        return step

    def _split(self, section: int) -> int:
        """Let a step begin at a section, and return its index."""
        step = bisect_left(self._starts, section)
        if self._starts[step] != section:
            self._starts.insert(step, section)
            self.tops.insert(step, self.tops[step - 1])
        return step
