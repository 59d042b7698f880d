"""What if every buffer were where it costs least?  The problem without limits, and who would move."""

from __future__ import annotations

from dataclasses import dataclass, replace

from usmp_build.memory.plan import Plan, peaks
from usmp_build.memory.problem import Buffer, Pool, Problem


@dataclass(frozen=True, slots=True)
class WithoutLimits:
    """A plan with every buffer where it costs least."""

    plan: Plan
    algorithm: str | None
    """The one of the manifest, or another, that has every buffer there too within limits of this size; None: it is not
    known which would."""


def cheaper_elsewhere(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Return the buffers that cost more where they are than in another of their pools."""
    places = zip(problem.buffers, plan.allocations, strict=True)
    return tuple(i for i, (buffer, place) in enumerate(places) if buffer.cost_in(place.pool) > least_cost(buffer))


def least_cost(buffer: Buffer) -> int:
    """Return what a buffer costs in its cheapest pool."""
    return min(buffer.costs, default=0)


def problem_without_limits(problem: Problem) -> Problem:
    """Leave every buffer its cheapest pools only, and lift all limits.

    Of pools that cost the same, those that had no limit: others need not be larger than they must.
    """
    pools = tuple(Pool(pool.name) for pool in problem.pools)
    return replace(problem, pools=pools, buffers=tuple(_cheapest(problem, buffer) for buffer in problem.buffers))


def problem_with_room_for(problem: Problem, plan: Plan) -> Problem:
    """Raise the limits to what a plan uses of the pools, where that is more."""
    used = zip(problem.pools, peaks(problem, plan), strict=True)
    pools = (Pool(pool.name, None if pool.limit is None else max(pool.limit, peak)) for pool, peak in used)
    return replace(problem, pools=tuple(pools))


def _cheapest(problem: Problem, buffer: Buffer) -> Buffer:
    least = least_cost(buffer)
    kept = [pool for pool in buffer.pools if buffer.cost_in(pool) == least]
    kept = [pool for pool in kept if problem.pools[pool].limit is None] or kept
    return replace(buffer, pools=tuple(kept), costs=(least,) * len(kept))
