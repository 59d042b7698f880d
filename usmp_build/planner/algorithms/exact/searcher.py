"""Search by the compiled core where there is one, else in Python: the answer is the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from usmp_build.planner.algorithms.core import core
from usmp_build.planner.algorithms.exact import precedence, search
from usmp_build.planner.algorithms.exact.search import Answer, Course, Search, Turns
from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.algorithms.exact.walk import Status

_LARGEST = 1 << 50
"""Units times sections.  Ranks multiply them by 1024 at the most, and the core counts in 64 bits."""

_FEW = 64
"""Pairs: where they are no more, and some may lie over each other, `precedence` comes first."""
_FIRST = 64
"""Its nodes, at the most."""


class Searcher:
    """Searches one strip, at one capacity after the other."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        self._reach = _reach(strip)
        self._few = _are_few(strip)
        self._core: Any = core() if strip.ordered and self._reach * max(1, strip.sections) < _LARGEST else None
        if self._core is not None:
            self._compiled = self._core.Strip(
                strip.sizes, strip.alignments, strip.fixed, strip.neighbors, strip.spans, strip.sections, strip.linear
            )

    def fit(self, capacity: int, nodes: int) -> Answer:
        """Look for offsets so that everything ends at `capacity` units or below; give up after so many nodes."""
        if not self._strip.ordered:
            return precedence.search(self._strip, capacity, nodes)
        if not self._few:
            return self.walk(capacity, nodes)
        first = precedence.search(self._strip, capacity, min(_FIRST, nodes))
        if first.status is not Status.UNKNOWN or first.nodes >= nodes:
            return first
        second = self.walk(capacity, nodes - first.nodes)
        return replace(second, nodes=first.nodes + second.nodes)

    @property
    def is_walked(self) -> bool:
        """Whether `walk` is all that `fit` does."""
        return self._strip.ordered and not self._few

    def walks(self, capacity: int) -> Turns:
        """Return walks that know nothing yet, for capacities up to this one."""
        if self._core is None or capacity > _LARGEST:
            return Search(self._strip)
        return _Compiled(self._core.Search(self._compiled))

    def course(self, capacity: int) -> Course:
        """Return a search at this capacity that can be taken up again and again."""
        return Course(self.walks(capacity), capacity, max(1, len(self._strip.sizes)))

    def walk(self, capacity: int, nodes: int) -> Answer:
        """Do so by walks alone."""
        if self._core is None or capacity > _LARGEST:
            return search.search(self._strip, capacity, nodes)
        status, offsets, done = self._core.search(self._compiled, capacity, nodes)
        return Answer(Status(status), tuple(offsets), done)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """Turns of the core."""

    walks: Any

    def turn(self, capacity: int, limit: int, percent: int, nodes: int) -> Answer:
        status, offsets, done = self.walks.turn(capacity, limit, percent, nodes)
        return Answer(Status(status), tuple(offsets), done)


def _reach(strip: Strip) -> int:
    """Return units that no floor goes beyond: every buffer raises it by what it keeps free at the most."""
    kept = (
        max(size, alignment, *(max(above, below) for _, above, below in near), 0)
        for size, alignment, near in zip(strip.sizes, strip.alignments, strip.neighbors, strict=True)
    )
    return 2 * sum(kept) + max((0, *strip.fixed))


def _are_few(strip: Strip) -> bool:
    """Whether some distances are 0 or less, and there are so few pairs that the choice may be about them."""
    distances = [above for near in strip.neighbors for _, above, _ in near]
    return len(distances) <= 2 * _FEW and min(distances, default=1) <= 0
