"""Hill climbing over the orders of first fit: change an order where its plan is bad, and keep it if it is not worse.

The climb starts at the better of the two greedy orders, or, where bytes may be shared, along the timeline.  Each round
picks a buffer that makes the plan bad, because it ends at the peak of a pool or another pool would cost less, and
changes the order by one of two moves:

    swap     it trades positions with an earlier buffer that it conflicts with
    advance  a buffer that it conflicts with moves forward, to the position of one that *that* buffer conflicts with

An order is accepted if its plan is no worse than the current one, or than that of `_LATE` rounds ago ("late
acceptance"): that crosses plateaus and leaves small valleys, and needs nothing but a comparison of plans.

As long as buffers do not fit, they are placed beyond limits, and the climb minimizes the bytes beyond limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.first_fit import Attempt, FirstFit
from usmp_build.planner.algorithms.greedy import (
    GreedyByConflicts,
    GreedyBySize,
    Order,
    backwards,
    by_conflicts,
    by_size,
    forwards,
)
from usmp_build.planner.memory.bounds import pool_bound, required
from usmp_build.planner.memory.components import components
from usmp_build.planner.memory.plan import Allocation, Plan, quality, rank, tops
from usmp_build.planner.memory.problem import Problem

_LATE = 20
"""Rounds after which a plan is no longer the one that new plans are compared with."""

_T = TypeVar("_T")


@frozen
class HillClimb:
    """Climbs in each component of a problem by itself: components do not conflict, so they share all memory."""

    seed: int = 1
    """Seed of the random choices between moves."""
    rounds: int = 5000
    """Most changes of the order of each component."""

    def __post_init__(self) -> None:
        """Raise ValueError when `rounds` is negative."""
        if self.rounds < 0:
            raise ValueError(f'"rounds" must be at least 0, not {self.rounds}')

    def __call__(self, problem: Problem, /) -> Plan | None:
        """Return the best plan found, never worse than the greedy ones; `Plan.work` counts rounds."""
        if any(requirement.missing for requirement in required(problem)):
            return None
        placed: dict[int, Allocation] = {}
        fits, work = True, 0
        for component in components(problem, range(len(problem.buffers))):
            climb = Climb(problem, component, self.seed)
            best = climb.best(self.rounds)
            placed.update(best.attempt.placed)
            fits = fits and best.score[:2] == (0, 0)
            work += climb.rounds
        joint = Attempt(placed).plan("hill_climb") if fits else None
        plans = filter(None, (joint, GreedyBySize()(problem), GreedyByConflicts()(problem)))
        least = min(plans, key=lambda plan: quality(problem, plan), default=None)
        return Plan("hill_climb", least.allocations, work=work) if least else None


class _State(NamedTuple):
    """An order, its plan, and its score."""

    score: tuple[int, ...]
    """Less is better: buffers without a place, bytes beyond limits, then `memory.plan.rank`."""
    order: Sequence[int]
    """Fixed buffers first, as first fit takes them."""
    attempt: Attempt


class Climb:
    """The climb in one component."""

    def __init__(self, problem: Problem, component: Sequence[int], seed: int) -> None:
        self._problem = problem
        self._component = component
        self._numbers = random_numbers(seed)
        self._work = effort.CLIMB_VISITS
        self.rounds = 0
        self._ideal = ideal(problem, component)
        self._first_fit = FirstFit(problem, component)
        orders: list[Order] = [by_size, by_conflicts, *([backwards, forwards] if problem.separations else [])]
        starts = [
            self._planned(sorted(order(problem, component), key=lambda index: not self._is_fixed(index)))
            for order in orders
        ]
        self._state = min(starts, key=lambda start: start.score)

    def best(self, rounds: int) -> _State:
        """Climb until no plan can be better, or rounds or work are used up."""
        best = self._state
        late = [best.score] * _LATE
        while (
            self.rounds < rounds and self._work > 0 and len(self._component) > 1 and best.score > (0, 0, *self._ideal)
        ):
            new = self._moved()
            if new and new.score <= max(self._state.score, late[self.rounds % _LATE]):
                self._state = new
                best = min(best, new, key=lambda state: state.score)
            late[self.rounds % _LATE] = self._state.score
            self.rounds += 1
        return best

    def _is_fixed(self, index: int) -> bool:
        return self._problem.buffers[index].offset is not None

    def _planned(self, order: Sequence[int], kept: int = 0) -> _State:
        """Run first fit in the given order; its first `kept` buffers stay where they are now."""
        placed = {index: self._state.attempt.placed[index] for index in order[:kept]}
        self._work -= sum(1 + len(self._problem.conflicts[index]) for index in order[kept:])
        attempt = self._first_fit(order[kept:], placed, overflow=True)
        beyond = sum(_beyond_limits(self._problem, attempt))
        return _State((len(order) - len(attempt.placed), beyond, *rank(self._problem, attempt.placed)), order, attempt)

    def _moved(self) -> _State | None:
        """Return the state after one move; None where no other buffer precedes the one to be moved."""
        order = list(self._state.order)
        self._work -= len(order)
        positions = {index: position for position, index in enumerate(order)}
        moved = self._culprit()
        advance = self._state.attempt.stuck is None and next(self._numbers) % 2 == 1
        if advance:
            moved = self._choice(sorted(self._problem.conflicts[moved], key=lambda other: positions[other]))
        rivals = (other for other in self._problem.conflicts[moved] if self._is_fixed(other) == self._is_fixed(moved))
        here = positions[moved]
        ahead = sorted(positions[other] for other in rivals if positions[other] < here)
        if not ahead:
            return None
        there = self._choice(ahead)
        if advance:
            order.insert(there, order.pop(here))
        else:
            order[there], order[here] = order[here], order[there]
        return self._planned(order, kept=there)

    def _culprit(self) -> int:
        """Choose a buffer that makes the current plan bad, for one of the reasons that apply."""
        _, order, attempt = self._state
        if attempt.stuck is not None:
            return attempt.stuck
        placed, buffers = attempt.placed, self._problem.buffers
        peaks = tops(self._problem, placed)
        high_pools = [pool for pool, bytes_ in enumerate(_beyond_limits(self._problem, attempt)) if bytes_]
        reasons = []
        if not high_pools:
            reasons.append([i for i in order if buffers[i].cost_in(placed[i].pool) > buffers[i].least_cost])
            high_pools = self._above_ideal(peaks)
        for pool in high_pools:
            ends = ((i, placed[i].offset + buffers[i].size) for i in order if placed[i].pool == pool)
            reasons.append([i for i, end in ends if end == peaks[pool]])
        return self._choice(self._choice([reason for reason in reasons if reason]))

    def _above_ideal(self, peaks: Sequence[int]) -> list[int]:
        """Return the pools with higher peaks than necessary; all that are used if only their sum may be lower."""
        above = [pool for pool, least in enumerate(reversed(self._ideal[2:])) if peaks[pool] > least]
        return above or [pool for pool, peak in enumerate(peaks) if peak]

    def _choice(self, items: Sequence[_T]) -> _T:
        return items[next(self._numbers) % len(items)]


def ideal(problem: Problem, component: Sequence[int]) -> tuple[int, ...]:
    """Return a lower bound of `rank`: every buffer in one of its cheapest pools, and each pool at its own bound.

    Pools are examined in the order of `rank`, the last first.  A pool that no buffer is forced into stays empty, so
    its candidates are forced into others.  The sum of peaks is bounded without that: it may be less where no pool
    stays empty.
    """
    candidates = {index: set(problem.buffers[index].cheapest_pools) for index in component}
    forced = ([i for i, pools in candidates.items() if pools == {pool}] for pool in range(len(problem.pools)))
    total = sum(pool_bound(problem, members).bytes for members in forced)
    peaks = []
    for pool in reversed(range(len(problem.pools))):
        peaks.append(pool_bound(problem, [index for index, pools in candidates.items() if pools == {pool}]).bytes)
        if peaks[-1] == 0:
            candidates = {i: pools - {pool} if problem.buffers[i].size else pools for i, pools in candidates.items()}
    return (sum(problem.buffers[index].least_cost for index in component), total, *peaks)


def _beyond_limits(problem: Problem, attempt: Attempt) -> list[int]:
    """Return the bytes by which each pool exceeds its limit."""
    peaks = zip(problem.pools, tops(problem, attempt.placed), strict=True)
    return [0 if pool.limit is None else max(0, peak - pool.limit) for pool, peak in peaks]


def random_numbers(seed: int) -> Iterator[int]:
    """Yield the upper halves of a 64-bit linear congruential generator: the same on every machine."""
    state = seed
    while True:
        state = (6364136223846793005 * state + 1442695040888963407) % (1 << 64)
        yield state >> 32
