"""Runs the search in the compiled core if it is installed, otherwise in Python: results are the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from usmp_build.planner.algorithms.core import LARGEST, core
from usmp_build.planner.algorithms.exact import precedence, search
from usmp_build.planner.algorithms.exact.search import Answer, Course, Search, Turns
from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.algorithms.exact.walk import Status

_FEW = 64
"""Most pairs with which `precedence` runs first, where some distances are 0 or less."""
_FIRST = 64
"""Most nodes of that run."""


class Searcher:
    """Searches one strip, at one capacity after another."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        self._reach = _reach(strip)
        self._few = _are_few(strip)
        self._core: Any = core() if strip.ordered and self._reach * max(1, strip.sections) < LARGEST else None
        if self._core is not None:
            self._compiled = self._core.Strip(
                strip.sizes, strip.alignments, strip.fixed, strip.neighbors, strip.spans, strip.sections, strip.linear
            )

    def fit(self, capacity: int, nodes: int) -> Answer:
        """Search for offsets with which all buffers end at `capacity` units or below; give up after `nodes` nodes."""
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
        """Whether `fit` is the same as `walk`."""
        return self._strip.ordered and not self._few

    def walks(self, capacity: int) -> Turns:
        """Return new walks, which have learned nothing yet, for capacities up to this one."""
        if self._core is None or capacity > LARGEST:
            return Search(self._strip)
        return _Compiled(self._core.Search(self._compiled))

    def course(self, capacity: int) -> Course:
        """Return a search at this capacity that can be resumed."""
        return Course(self.walks(capacity), capacity, max(1, len(self._strip.sizes)))

    def walk(self, capacity: int, nodes: int) -> Answer:
        """Search as `fit` does, by walks alone."""
        if self._core is None or capacity > LARGEST:
            return search.search(self._strip, capacity, nodes)
        status, offsets, visited = self._core.search(self._compiled, capacity, nodes)
        return Answer(Status(status), tuple(offsets), visited)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """`Turns` in the compiled core."""

    walks: Any

    def turn(self, capacity: int, limit: int, percent: int, nodes: int) -> Answer:
        status, offsets, visited = self.walks.turn(capacity, limit, percent, nodes)
        return Answer(Status(status), tuple(offsets), visited)


def _reach(strip: Strip) -> int:
    """Return an upper bound of all floors, in units: every buffer raises them by at most the distance it keeps."""
    distances = (
        max(size, alignment, *(max(above, below) for _, above, below in neighbors), 0)
        for size, alignment, neighbors in zip(strip.sizes, strip.alignments, strip.neighbors, strict=True)
    )
    return 2 * sum(distances) + max((0, *strip.fixed))


def _are_few(strip: Strip) -> bool:
    """Whether some distances are 0 or less, and pairs are few enough to branch on them."""
    distances = [above for neighbors in strip.neighbors for _, above, _ in neighbors]
    return len(distances) <= 2 * _FEW and min(distances, default=1) <= 0
