"""The same problem with other limits, and which buffers would cost less in another pool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Buffer, Problem


def cheaper_elsewhere(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Return the buffers that cost more where they are than in another of their pools."""
    places = zip(problem.buffers, plan.allocations, strict=True)
    return tuple(i for i, (buffer, place) in enumerate(places) if buffer.cost_in(place.pool) > least_cost(buffer))


def least_cost(buffer: Buffer) -> int:
    """Return what a buffer costs in its cheapest pool."""
    return min(buffer.costs, default=0)


def with_limits(problem: Problem, limits: Iterable[int | None]) -> Problem:
    """State a problem with these limits of its pools, in bytes; None: as large as needed."""
    pools = zip(problem.pools, limits, strict=True)
    return replace(problem, pools=tuple(replace(pool, limit=limit) for pool, limit in pools))
