"""How little capacity will do?  A search that closes in from both sides, and tells what it proved.

What is not known stays open: a search that gave up says nothing about a capacity, so it never moves the bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from usmp_build.algorithms.exact.searcher import Searcher
from usmp_build.algorithms.exact.strip import Strip
from usmp_build.algorithms.exact.walk import Status

_FIRST = 32
"""Nodes for each buffer that a search may look at in the first round; twice as many in each further one."""

_PARTS = 4
"""What is open is tried in so many steps, from above: luck decides more than size how hard a capacity is."""


@dataclass(slots=True)
class Least:
    """What is known; all in units."""

    bound: int
    """Nothing ends below: proven."""
    limit: int
    """Nothing may end above."""
    enough: int
    """Whoever asks gains nothing by less."""
    offsets: tuple[int, ...] | None = None
    """The best so far; None when nothing was found."""
    peak: int = 0
    """Where that ends."""
    nodes: int = 0
    """Of all searches."""

    @property
    def top(self) -> int:
        """The largest capacity that would be news."""
        return self.limit if self.offsets is None else self.peak - 1

    @property
    def goal(self) -> int:
        """The least capacity that may be possible and of use."""
        return max(self.bound, self.enough)


def least(
    strip: Strip, bound: int, offsets: Sequence[int] | None, nodes: int, limit: int | None = None, enough: int = 0
) -> Least:
    """Bring `offsets`, a plan if there is one, as close to `bound` as so many nodes allow."""
    roomy = sum(strip.sizes) + sum(strip.alignments) + max((0, *strip.fixed))
    known = Least(bound, max(roomy, enough) if limit is None else limit, enough)
    if offsets is not None and end(strip, offsets) <= known.limit:
        known.offsets, known.peak = tuple(offsets), end(strip, offsets)
    hunt = _Hunt(known, Searcher(strip), strip, nodes)
    each = _FIRST * max(1, len(strip.sizes))
    hunt.raise_bound(2 * each)
    hunt.lower_peak(each)
    while hunt.is_open:
        each *= 2
        hunt.lower_peak(each)
        hunt.raise_bound(each)
    return known


@dataclass(slots=True)
class _Hunt:
    """Searches at one capacity after the other; where only one is open, it gets all the work that is left."""

    known: Least
    searcher: Searcher
    strip: Strip
    nodes: int
    """Bound of all searches."""

    @property
    def is_open(self) -> bool:
        """Whether there is something to find, and work left to find it."""
        return self.known.goal <= self.known.top and self.known.nodes < self.nodes

    def raise_bound(self, each: int) -> None:
        """Try the goal, for there it mostly ends; while that is impossible, go up by longer and longer strides."""
        stride = 0
        while self.is_open:
            if self._try(min(self.known.goal + stride, self.known.top), each) is not Status.IMPOSSIBLE:
                break
            stride = 2 * stride + 1

    def lower_peak(self, each: int) -> None:
        """Step down from the best plan; the next one that is found is where the steps begin again."""
        part = _PARTS - (self.known.offsets is not None)
        top = self.known.top + 1
        while part and self.is_open:
            capacity = min(self.known.goal + (top - self.known.goal) * part // _PARTS, self.known.top)
            if capacity <= self.known.goal:
                break
            part -= 1
            if self._try(capacity, each) is Status.FITS:
                part, top = _PARTS - 1, self.known.top + 1

    def _try(self, capacity: int, each: int) -> Status:
        left = self.nodes - self.known.nodes
        answer = self.searcher.fit(capacity, left if self.known.goal == self.known.top else min(each, left))
        self.known.nodes += max(1, answer.nodes)
        if answer.status is Status.FITS:
            self.known.offsets, self.known.peak = answer.offsets, end(self.strip, answer.offsets)
        elif answer.status is Status.IMPOSSIBLE:
            self.known.bound = max(self.known.bound, capacity + 1)
        return answer.status


def end(strip: Strip, offsets: Sequence[int]) -> int:
    """Return where the last of these buffers ends."""
    return max((offset + size for offset, size in zip(offsets, strip.sizes, strict=True)), default=0)
