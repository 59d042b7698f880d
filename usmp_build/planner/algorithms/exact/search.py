"""Decides whether a strip fits into a capacity: six kinds of walks by turns, each a little longer than the last.

How long a walk takes depends much on luck: a rule that is hopeless on one strip finds a plan at once on another.  So
six arms take turns, and restart with half as much work again; what they learned about sections is kept.

core/search.cpp does the same, with the same results.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol

from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.algorithms.exact.walk import Arm, Status, Walk

_CALM = 7
"""How many turns are taken without noise in ranks."""
_STRONGEST = 10
"""Most noise, in percent."""
_FINE = 1024
_ORDERS = ((0, 1, 2), (1, 2, 0), (2, 1, 0))
"""Orders of the three keys of a buffer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a search, and its work in nodes."""

    status: Status
    offsets: tuple[int, ...]
    """In units; empty unless the strip fits."""
    nodes: int


class Turns(Protocol):
    """Walks of one strip; what they learn about sections is kept from one capacity to the next."""

    def turn(self, capacity: int, limit: int, percent: int, nodes: int) -> Answer:
        """Walk once with each arm, at most `limit` nodes each and `nodes` in all, with ranks blurred by `percent`."""


class Search:
    """`Turns` in Python."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        self._walk = Walk(strip)
        self._keys = _keys(strip)
        self._noise = _Noise()

    def turn(self, capacity: int, limit: int, percent: int, nodes: int) -> Answer:
        """Walk once with each arm."""
        if not _fixed_fit(self._strip, capacity):
            return Answer(Status.IMPOSSIBLE, (), 0)
        visited = 0
        for order, fail_first in product(_ORDERS, (False, True)):
            arm = Arm(fail_first, _ranks(self._keys, order, percent, self._noise))
            status = self._walk.run(capacity, arm, min(limit, nodes - visited))
            visited += self._walk.nodes
            if status is not Status.UNKNOWN:
                return Answer(status, tuple(self._walk.floors) if status is Status.FITS else (), visited)
            if visited >= nodes:
                break
        return Answer(Status.UNKNOWN, (), visited)


@dataclass(slots=True)
class Course:
    """A search at one capacity that can be interrupted and resumed."""

    walks: Turns
    capacity: int
    limit: int
    """Most nodes of each arm in the next turn; at first as many as there are buffers."""
    turns: int = 0
    """How many turns were taken."""

    def turn(self, nodes: int) -> Answer:
        """Take the next turn, of at most `nodes` nodes."""
        percent = min(_STRONGEST, max(0, self.turns - _CALM + 1))
        answer = self.walks.turn(self.capacity, self.limit, percent, nodes)
        self.limit += self.limit // 2 + 1
        self.turns += 1
        return answer


def search(strip: Strip, capacity: int, nodes: int) -> Answer:
    """Search for offsets with which all buffers end at `capacity` units or below; give up after `nodes` nodes."""
    course = Course(Search(strip), capacity, max(1, len(strip.sizes)))
    visited = 0
    while True:
        answer = course.turn(nodes - visited)
        visited += answer.nodes
        if answer.status is not Status.UNKNOWN or visited >= nodes:
            return replace(answer, nodes=visited)


def _fixed_fit(strip: Strip, capacity: int) -> bool:
    """Whether buffers with fixed offsets fit, and keep their distances from each other."""
    for index, offset in enumerate(strip.fixed):
        if offset < 0:
            continue
        if offset + strip.sizes[index] > capacity or offset % strip.alignments[index]:
            return False
        for other, above, below in strip.neighbors[index]:
            if strip.fixed[other] >= 0 and strip.fixed[other] - offset < above and offset - strip.fixed[other] < below:
                return False
    return True


def _keys(strip: Strip) -> list[tuple[int, int, int]]:
    """Return for each buffer: the load of its fullest section, how many sections it is in, and this times its size."""
    loads = [0] * strip.sections
    for spans in strip.spans:
        for first, last, units in spans:
            for section in range(first, last + 1):
                loads[section] += units
    keys = []
    for size, spans in zip(strip.sizes, strip.spans, strict=True):
        total = max(max(loads[first : last + 1]) for first, last, _ in spans)
        width = sum(last - first + 1 for first, last, _ in spans)
        keys.append((total, width, width * size))
    return keys


def _ranks(keys: list[tuple[int, int, int]], order: tuple[int, int, int], percent: int, noise: _Noise) -> list[int]:
    """Rank buffers by their keys in this order, the greatest first, after blurring the keys by up to `percent`."""
    blurred = []
    for key in keys:
        factor = noise.near(_FINE, percent) if percent else _FINE
        blurred.append(tuple(key[which] * factor for which in order))
    places = sorted(range(len(keys)), key=blurred.__getitem__, reverse=True)
    ranks = [0] * len(keys)
    for rank, index in enumerate(places):
        ranks[index] = rank
    return ranks


class _Noise:
    """A linear congruential generator (Numerical Recipes): the same numbers everywhere."""

    def __init__(self) -> None:
        self._state = 1

    def near(self, middle: int, percent: int) -> int:
        """Draw a number that differs from `middle` by at most `percent`."""
        self._state = (self._state * 1664525 + 1013904223) % (1 << 32)
        reach = middle * percent // 100
        return middle - reach + (self._state >> 16) % (2 * reach + 1)
