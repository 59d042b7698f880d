"""Problems with other limits, the bytes by which plans exceed limits, and buffers outside their cheapest pool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from usmp_build.planner.memory.plan import Plan, peaks
from usmp_build.planner.memory.problem import Problem


def cheaper_elsewhere(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Return the buffers that cost more where they are than in another of their pools."""
    places = zip(problem.buffers, plan.allocations, strict=True)
    return tuple(i for i, (buffer, place) in enumerate(places) if buffer.cost_in(place.pool) > buffer.least_cost)


def with_limits(problem: Problem, limits: Iterable[int | None]) -> Problem:
    """Return the problem with these limits of its pools, in bytes; None: as large as needed."""
    pools = zip(problem.pools, limits, strict=True)
    limited = replace(problem, pools=tuple(replace(pool, limit=limit) for pool, limit in pools))
    object.__setattr__(limited, "heaviest", problem.heaviest)  # whatever the limits
    return limited


def with_room_in_last_pools(problem: Problem) -> Problem:
    """Lift the limits of the pools that are the last choice of some buffer: then every buffer has a place."""
    last = {buffer.pools[-1] for buffer in problem.buffers}
    return with_limits(problem, (None if pool in last else limit for pool, limit in enumerate(problem.limits)))


def excess(problem: Problem, plan: Plan) -> dict[int, int]:
    """Return the bytes by which a plan exceeds limits, by index of the pool; pools within their limit are left out."""
    sizes = zip(problem.limits, peaks(problem, plan), strict=True)
    return {pool: peak - limit for pool, (limit, peak) in enumerate(sizes) if limit is not None and peak > limit}
