"""Finds the least capacity of a strip, and proves bounds, by searches at several capacities by turns.

A search that gave up proves nothing about its capacity, so it never moves the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

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

    strip: Strip
    bound: int
    """A lower bound of every peak, proven."""
    limit: int
    """The highest peak that is allowed."""
    enough: int
    """A peak below which the caller gains nothing."""
    allowed: int
    """Nodes that all searches may take."""
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

    @property
    def is_open(self) -> bool:
        """Whether there is something to find, and work left to find it."""
        return self.goal <= self.top and self.nodes < self.allowed

    def learn(self, capacity: int, answer: Answer) -> Status:
        """Take over what a search at this capacity has found or proven."""
        self.nodes += max(1, answer.nodes)
        if answer.status is Status.FITS:
            self.offsets, self.peak = answer.offsets, end(self.strip, answer.offsets)
        elif answer.status is Status.IMPOSSIBLE:
            self.bound = max(self.bound, capacity + 1)
        return answer.status

    def raise_bound(self, search: Callable[[int], Status]) -> None:
        """Try the goal, for there it mostly ends; while that is impossible, go up by longer and longer strides."""
        stride = 0
        while self.is_open and search(min(self.goal + stride, self.top)) is Status.IMPOSSIBLE:
            stride = 2 * stride + 1


def least(
    strip: Strip, bound: int, offsets: Sequence[int] | None, nodes: int, limit: int | None = None, enough: int = 0
) -> Least:
    """Improve `offsets`, a packing if there is one, towards `bound`, with at most `nodes` nodes; all in units."""
    roomy = sum(strip.sizes) + sum(strip.alignments) + max((0, *strip.fixed))
    best = Least(strip, bound, max(roomy, enough) if limit is None else limit, enough, nodes)
    if offsets is not None and end(strip, offsets) <= best.limit:
        best.offsets, best.peak = tuple(offsets), end(strip, offsets)
    searcher = Searcher(strip)
    if searcher.is_walked:
        _Ladder(best, searcher).descend()
    else:
        _hunt(best, searcher)
    return best


def _hunt(best: Least, searcher: Searcher) -> None:
    """Search at one capacity after another; where only one is open, it gets all the work that is left."""
    nodes = _FIRST * max(1, len(best.strip.sizes))
    best.raise_bound(partial(_search, best, searcher, 2 * nodes))
    _lower_peak(best, searcher, nodes)
    while best.is_open:
        nodes *= 2
        _lower_peak(best, searcher, nodes)
        best.raise_bound(partial(_search, best, searcher, nodes))


def _lower_peak(best: Least, searcher: Searcher, nodes: int) -> None:
    """Step down from the best plan; each plan that is found restarts the steps."""
    part = _PARTS if best.offsets is None else _PARTS - 1
    top = best.top + 1
    while part and best.is_open:
        capacity = min(best.goal + (top - best.goal) * part // _PARTS, best.top)
        if capacity <= best.goal:
            break
        part -= 1
        if _search(best, searcher, nodes, capacity) is Status.FITS:
            part, top = _PARTS - 1, best.top + 1


def _search(best: Least, searcher: Searcher, nodes: int, capacity: int) -> Status:
    left = best.allowed - best.nodes
    return best.learn(capacity, searcher.fit(capacity, left if best.goal == best.top else min(nodes, left)))


@dataclass(slots=True)
class _Ladder:
    """Searches that are resumed by turns, at capacities from loose to tight, the bound last.

    First the gap between the best plan and the bound is halved as long as that is quick, by walks that keep what they
    learned at one capacity for the next.  Then each capacity has its own searches, forwards and backwards in time, and
    they take turns.
    """

    best: Least
    forwards: Searcher
    backwards: Searcher | None = None
    """Searches the strip with time reversed; made when it is needed."""
    courses: dict[tuple[int, int], Course] = field(default_factory=dict)
    """Searches by capacity and direction."""
    rounds: int = 0
    """How often all capacities were visited."""

    def descend(self) -> None:
        if self.best.offsets is not None and self.best.strip.shares_bytes:
            self.halve()  # where bytes may be shared, the bound is seldom reached
        self.best.raise_bound(self._turns)
        self.halve()
        while self.best.is_open:
            self.visit_rungs()

    def _turns(self, capacity: int) -> Status:
        """Take the first turns at a capacity, until it is decided."""
        status, turns = Status.UNKNOWN, 0
        while status is Status.UNKNOWN and turns < _TURNS and self.best.nodes < self.best.allowed:
            status = self._turn(capacity, 0)
            turns += 1
        return status

    def halve(self) -> None:
        """Halve the gap, or take a quarter off, as long as a short walk succeeds."""
        walks = self.forwards.walks()
        quick = _QUICK * max(1, len(self.best.strip.sizes))
        parts = 2
        while self.best.is_open and parts <= 4 and self.best.goal < self.best.top:
            gap = self.best.top + 1 - self.best.goal
            capacity = self.best.top if self.best.offsets is None else self.best.goal + gap // parts
            answer = walks.turn(capacity, self.best.allowed - self.best.nodes, quick)
            fits = self._learn(capacity, answer, 0) is Status.FITS
            if not fits and self.best.offsets is None:
                break
            parts = 2 if fits else 2 * parts

    def visit_rungs(self) -> None:
        """Take one turn at every capacity in both directions; only forwards where only a proof is left to find."""
        is_proof = self.best.goal == self.best.top and self.best.offsets is not None
        for capacity in self._rungs():
            for direction in range(1 if is_proof else 2):
                course = self.courses.get((capacity, direction))
                is_ahead = course is not None and course.turns > self.rounds
                if self.best.is_open and self.best.goal <= capacity <= self.best.top and not is_ahead:
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
        return self._learn(capacity, self.courses[key].turn(self.best.allowed - self.best.nodes), direction)

    def _searcher(self, direction: int) -> Searcher:
        if not direction:
            return self.forwards
        if self.backwards is None:
            self.backwards = Searcher(self.best.strip.backwards())
        return self.backwards

    def _learn(self, capacity: int, answer: Answer, direction: int) -> Status:
        status = self.best.learn(capacity, replace(answer, offsets=answer.offsets[::-1]) if direction else answer)
        if status is Status.FITS:
            self.courses = {key: course for key, course in self.courses.items() if key[0] < self.best.peak}
        return status


def end(strip: Strip, offsets: Sequence[int]) -> int:
    """Return the peak of these offsets, in units."""
    return max((offset + size for offset, size in zip(offsets, strip.sizes, strict=True)), default=0)
