"""Searches one strip: by walks, or pair by pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from usmp_build.planner.algorithms.core import LARGEST, NO_PLACE
from usmp_build.planner.algorithms.exact import precedence
from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.algorithms.exact.walks import Answer, Course, Status, Walks, compiled

_FEW = 64
"""Most pairs with which `precedence` runs first, where some distances are 0 or less."""
_FIRST = 64
"""Most nodes of that run."""


class Searcher:
    """Searches one strip, at one capacity after another."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        self._few = len(strip.near.above) <= 2 * _FEW and bool((strip.near.above <= 0).any())
        self._compiled = compiled(strip) if strip.ordered and _reach(strip) * max(1, strip.sections) < LARGEST else None

    def fit(self, capacity: int, nodes: int) -> Answer:
        """Search for offsets with which all buffers end at `capacity` units or below; give up after `nodes` nodes."""
        if self._compiled is None:
            return precedence.search(self._strip, capacity, nodes)
        if not self._few:
            return self.course(capacity).finish(nodes)
        first = precedence.search(self._strip, capacity, min(_FIRST, nodes))
        if first.status is not Status.UNKNOWN or first.nodes >= nodes:
            return first
        second = self.course(capacity).finish(nodes - first.nodes)
        return replace(second, nodes=first.nodes + second.nodes)

    @property
    def is_walked(self) -> bool:
        """Whether walks alone search it; there are none in cycles of distances of 0 or less, and of huge numbers."""
        return self._compiled is not None and not self._few

    def walks(self) -> Walks:
        """Return new walks, which have learned nothing yet."""
        assert self._compiled is not None
        return Walks(self._compiled, len(self._strip.sizes))

    def course(self, capacity: int) -> Course:
        """Return a search at this capacity that can be resumed."""
        return Course(self.walks(), capacity)


def _reach(strip: Strip) -> int:
    """Return an upper bound of all floors, in units: every buffer raises them by at most the distance it keeps."""
    farthest = np.array([strip.sizes, strip.alignments], np.int64).max(axis=0)
    np.maximum.at(farthest, strip.near.ones, np.maximum(strip.near.above, strip.near.below))
    total: int = sum(farthest.tolist())
    return 2 * total + max((abs(offset) for offset in strip.fixed if offset != NO_PLACE), default=0)
