"""Finds the least capacity of a strip, and proves bounds, by searches at several capacities by turns.

A search that gave up proves nothing about its capacity, so it never moves the bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from usmp_build.planner.algorithms.exact.searcher import Searcher
from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.algorithms.exact.walks import Answer, Course, Status

_FIRST = 32
"""Nodes for each buffer in the first round of a search; twice as many in each further one."""

_PARTS = 4
"""Steps in which the gap is tried, from above: how hard a capacity is depends on luck more than on its size."""

_TURNS = 4
"""Turns at the bound before anything else is tried: mostly enough where it can be reached."""

_QUICK = 2
"""Nodes for each buffer and arm while the gap is halved: an arm that finds a plan mostly does not backtrack."""

_RUNGS = (32, 80)
"""Capacities tried between the goal and the best plan: the goal plus the goal divided by each of these."""

_LATE = 8
"""Rounds before parts of the gap are tried, too, even close to the best plan."""


@dataclass(slots=True)
class Least:
    """The best packing and the bounds of a strip, in units."""

    bound: int
    """A lower bound of every peak, proven."""
    limit: int
    """The highest peak that is allowed."""
    enough: int
    """A peak below which the caller gains nothing."""
    offsets: tuple[int, ...] | None = None
    """The best packing so far; None when none was found."""
    peak: int = 0
    """The peak of `offsets`."""
    nodes: int = 0
    """The work of all searches."""

    @property
    def top(self) -> int:
        """The largest capacity that would be an improvement."""
        return self.limit if self.offsets is None else self.peak - 1

    @property
    def goal(self) -> int:
        """The least capacity that may be possible and of use."""
        return max(self.bound, self.enough)


def least(
    strip: Strip, bound: int, offsets: Sequence[int] | None, nodes: int, limit: int | None = None, enough: int = 0
) -> Least:
    """Improve `offsets`, a packing if there is one, towards `bound`, with at most `nodes` nodes; all in units."""
    roomy = sum(strip.sizes) + sum(strip.alignments) + max((0, *strip.fixed))
    best = Least(bound, max(roomy, enough) if limit is None else limit, enough)
    if offsets is not None and end(strip, offsets) <= best.limit:
        best.offsets, best.peak = tuple(offsets), end(strip, offsets)
    searcher = Searcher(strip)
    if searcher.is_walked:
        _descend(_Ladder(best, strip, nodes, searcher))
    else:
        _hunt(_Hunt(best, searcher, strip, nodes))
    return best


def _hunt(hunt: _Hunt) -> None:
    nodes = _FIRST * max(1, len(hunt.strip.sizes))
    hunt.raise_bound(2 * nodes)
    hunt.lower_peak(nodes)
    while hunt.is_open:
        nodes *= 2
        hunt.lower_peak(nodes)
        hunt.raise_bound(nodes)


def _descend(ladder: _Ladder) -> None:
    if ladder.best.offsets is not None and ladder.strip.shares_bytes:
        ladder.halve()  # where bytes may be shared, the bound is seldom reached
    ladder.try_bound()
    ladder.halve()
    while ladder.is_open:
        ladder.visit_rungs()


@dataclass(slots=True)
class _Ladder:
    """Searches that are resumed by turns, at capacities from loose to tight, the bound last.

    First the gap between the best plan and the bound is halved as long as that is quick, by walks that keep what they
    learned at one capacity for the next.  Then each capacity has its own searches, forwards and backwards in time, and
    they take turns.
    """

    best: Least
    strip: Strip
    nodes: int
    """Bound of all searches."""
    forwards: Searcher
    backwards: Searcher | None = None
    """Searches the strip with time reversed; made when it is needed."""
    courses: dict[tuple[int, int], Course] = field(default_factory=dict)
    """Searches by capacity and direction."""
    rounds: int = 0
    """How often all capacities were visited."""

    @property
    def is_open(self) -> bool:
        """Whether there is something to find, and work left to find it."""
        return self.best.goal <= self.best.top and self.best.nodes < self.nodes

    def try_bound(self) -> None:
        """Try the goal, for there it mostly ends; while that is impossible, go up by longer and longer strides."""
        stride = 0
        while self.is_open:
            capacity = min(self.best.goal + stride, self.best.top)
            turns = 0
            status = Status.UNKNOWN
            while status is Status.UNKNOWN and turns < _TURNS and self.best.nodes < self.nodes:
                status = self._turn(capacity, 0)
                turns += 1
            if status is not Status.IMPOSSIBLE:
                break
            stride = 2 * stride + 1

    def halve(self) -> None:
        """Halve the gap, or take a quarter off, as long as a short walk succeeds."""
        walks = self.forwards.walks()
        quick = _QUICK * max(1, len(self.strip.sizes))
        parts = 2
        while self.is_open and parts <= 4 and self.best.goal < self.best.top:
            gap = self.best.top + 1 - self.best.goal
            capacity = self.best.top if self.best.offsets is None else self.best.goal + gap // parts
            answer = walks.turn(capacity, self.nodes - self.best.nodes, quick)
            fits = self._learn(capacity, answer, 0) is Status.FITS
            if not fits and self.best.offsets is None:
                break
            parts = 2 if fits else 2 * parts

    def visit_rungs(self) -> None:
        """Take one turn at every capacity in both directions; only forwards where only a proof is left to find."""
        is_proof = self.best.goal == self.best.top and self.best.offsets is not None
        for capacity in self._rungs():
            for direction in (0,) if is_proof else (0, 1):
                course = self.courses.get((capacity, direction))
                is_ahead = course is not None and course.turns > self.rounds
                if self.is_open and self.best.goal <= capacity <= self.best.top and not is_ahead:
                    self._turn(capacity, direction)
        self.rounds += 1

    def _rungs(self) -> list[int]:
        """Return capacities from loose to tight, the goal last; parts of the gap only where others lack, or late."""
        goal, top = self.best.goal, self.best.top
        rungs = [rung for part in _RUNGS if goal < (rung := goal + goal // part) <= top]
        if goal < top and (not rungs or self.rounds >= _LATE):
            rungs = sorted({*rungs, goal + (top - goal) * 3 // 4, (goal + top + 1) // 2} - {goal}, reverse=True)
        return [*rungs, goal]

    def _turn(self, capacity: int, direction: int) -> Status:
        key = (capacity, direction)
        if key not in self.courses:
            self.courses[key] = self._searcher(direction).course(capacity)
        return self._learn(capacity, self.courses[key].turn(self.nodes - self.best.nodes), direction)

    def _searcher(self, direction: int) -> Searcher:
        if not direction:
            return self.forwards
        if self.backwards is None:
            self.backwards = Searcher(self.strip.backwards())
        return self.backwards

    def _learn(self, capacity: int, answer: Answer, direction: int) -> Status:
        self.best.nodes += max(1, answer.nodes)
        if answer.status is Status.FITS:
            self.best.offsets = answer.offsets[::-1] if direction else answer.offsets
            self.best.peak = end(self.strip, self.best.offsets)
            self.courses = {key: course for key, course in self.courses.items() if key[0] < self.best.peak}
        elif answer.status is Status.IMPOSSIBLE:
            self.best.bound = max(self.best.bound, capacity + 1)
        return answer.status


@dataclass(slots=True)
class _Hunt:
    """Searches at one capacity after another; where only one is open, it gets all the work that is left."""

    best: Least
    searcher: Searcher
    strip: Strip
    nodes: int
    """Bound of all searches."""

    @property
    def is_open(self) -> bool:
        """Whether there is something to find, and work left to find it."""
        return self.best.goal <= self.best.top and self.best.nodes < self.nodes

    def raise_bound(self, nodes: int) -> None:
        """Try the goal, for there it mostly ends; while that is impossible, go up by longer and longer strides."""
        stride = 0
        while self.is_open:
            if self._try(min(self.best.goal + stride, self.best.top), nodes) is not Status.IMPOSSIBLE:
                break
            stride = 2 * stride + 1

    def lower_peak(self, nodes: int) -> None:
        """Step down from the best plan; each plan that is found restarts the steps."""
        part = _PARTS - (self.best.offsets is not None)
        top = self.best.top + 1
        while part and self.is_open:
            capacity = min(self.best.goal + (top - self.best.goal) * part // _PARTS, self.best.top)
            if capacity <= self.best.goal:
                break
            part -= 1
            if self._try(capacity, nodes) is Status.FITS:
                part, top = _PARTS - 1, self.best.top + 1

    def _try(self, capacity: int, nodes: int) -> Status:
        left = self.nodes - self.best.nodes
        answer = self.searcher.fit(capacity, left if self.best.goal == self.best.top else min(nodes, left))
        self.best.nodes += max(1, answer.nodes)
        if answer.status is Status.FITS:
            self.best.offsets, self.best.peak = answer.offsets, end(self.strip, answer.offsets)
        elif answer.status is Status.IMPOSSIBLE:
            self.best.bound = max(self.best.bound, capacity + 1)
        return answer.status


def end(strip: Strip, offsets: Sequence[int]) -> int:
    """Return the peak of these offsets, in units."""
    return max((offset + size for offset, size in zip(offsets, strip.sizes, strict=True)), default=0)
