"""Does a strip fit into a capacity?  Walks in several ways, by turns, each a little longer than the last.

How long a walk takes depends much on luck: a rule that is hopeless on one strip finds a plan at once on another.  So
six arms take turns, and start again with half as much work more; what they learned about sections stays.

core/search.cpp does the same, and answers the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol

from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.algorithms.exact.walk import Arm, Status, Walk

_CALM = 7
"""Turns before ranks become noisy."""
_STRONGEST = 10
"""Percent of noise, at the most."""
_FINE = 1024
_ORDERS = ((0, 1, 2), (1, 2, 0), (2, 1, 0))
"""Of the keys of a buffer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found out, and its work."""

    status: Status
    offsets: tuple[int, ...]
    """In units; empty unless the strip fits."""
    nodes: int


class Turns(Protocol):
    """Walks through one strip; what they learn about sections is kept from one capacity to the next."""

    def turn(self, capacity: int, limit: int, percent: int, nodes: int) -> Answer:
        """Walk once with each arm, `limit` nodes each and `nodes` in all, with ranks blurred by so many percent."""


class Search:
    """The same in Python."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        self._walk = Walk(strip)
        self._keys = _keys(strip)
        self._noise = _Noise()

    def turn(self, capacity: int, limit: int, percent: int, nodes: int) -> Answer:
        """Walk once with each arm."""
        if not _fixed_fit(self._strip, capacity):
            return Answer(Status.IMPOSSIBLE, (), 0)
        done = 0
        for order, fail_first in product(_ORDERS, (False, True)):
            arm = Arm(fail_first, _ranks(self._keys, order, percent, self._noise))
            status = self._walk.run(capacity, arm, min(limit, nodes - done))
            done += self._walk.nodes
            if status is not Status.UNKNOWN:
                return Answer(status, tuple(self._walk.floors) if status is Status.FITS else (), done)
            if done >= nodes:
                break
        return Answer(Status.UNKNOWN, (), done)


@dataclass(slots=True)
class Course:
    """A search at one capacity that can be left and taken up again."""

    walks: Turns
    capacity: int
    limit: int
    """Nodes of each arm in the next turn; at first as many as there are buffers."""
    turns: int = 0
    """That were taken."""

    def turn(self, nodes: int) -> Answer:
        """Take the next turn, of so many nodes at the most."""
        percent = min(_STRONGEST, max(0, self.turns - _CALM + 1))
        answer = self.walks.turn(self.capacity, self.limit, percent, nodes)
        self.limit += self.limit // 2 + 1
        self.turns += 1
        return answer


def search(strip: Strip, capacity: int, nodes: int) -> Answer:
    """Look for offsets so that everything ends at `capacity` units or below; give up after so many nodes."""
    course = Course(Search(strip), capacity, max(1, len(strip.sizes)))
    done = 0
    while True:
        answer = course.turn(nodes - done)
        done += answer.nodes
        if answer.status is not Status.UNKNOWN or done >= nodes:
            return replace(answer, nodes=done)


def _fixed_fit(strip: Strip, capacity: int) -> bool:
    """Whether buffers with fixed offsets leave each other room."""
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
    """Of each buffer: the fullest of its sections, how many it is in, and its area, which is their product."""
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
    """Rank buffers by their keys in this order, the greatest first, after blurring them by some percent."""
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
        """Draw a number that differs from `middle` by some percent at the most."""
        self._state = (self._state * 1664525 + 1013904223) % (1 << 32)
        reach = middle * percent // 100
        return middle - reach + (self._state >> 16) % (2 * reach + 1)
