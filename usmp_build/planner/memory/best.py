"""Decide whether lower bounds prove that a plan is optimal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from usmp_build.planner.memory.bounds import pool_bound, pressure
from usmp_build.planner.memory.components import families
from usmp_build.planner.memory.plan import Plan, peaks, quality
from usmp_build.planner.memory.problem import Problem


def is_best(problem: Problem, plan: Plan) -> bool:
    """Return whether no plan ranks before this one by `plan.quality`; False when that is not proven.

    Either the algorithm has proved it, or bounds do:
    if every buffer is where it costs least, a better plan has the same cost and a smaller sum of peaks; or the same
    sum, and a lower peak in the least preferred pool that differs.  So pools are examined in that order: the bound of
    a pool is that of the buffers which have no other place, and once its peak is proven to be least, no better plan
    exceeds it.
    """
    if plan.bound and plan.bound >= quality(problem, plan):
        return True
    limits = list(problem.limits)
    least = [min((b.cost_in(pool) for pool in b.pools_within(limits)), default=0) for b in problem.buffers]
    places = zip(problem.buffers, plan.allocations, least, strict=True)
    if any(buffer.cost_in(place.pool) > cost for buffer, place, cost in places):
        return False
    highest = peaks(problem, plan)
    if any(sum(highest[pool] for pool in pools) > bytes_ for pools, bytes_ in _sums(problem, plan, limits, least)):
        return False
    for pool in reversed(range(len(problem.pools))):
        if highest[pool] > _needed(problem, plan, pool, limits, least):
            return False
        limits[pool] = highest[pool]
    return True


def _sums(
    problem: Problem, plan: Plan, limits: Sequence[int | None], least: Sequence[int]
) -> Iterator[tuple[set[int], int]]:
    """Yield sets of pools that share buffers, with the bytes they need together in every plan of the same cost."""
    for members in families(problem):
        pools = {pool for index in members for pool in problem.buffers[index].pools}
        if len(pools) > 1:
            bytes_of_pools = sum(_needed(problem, plan, pool, limits, least) for pool in pools)
            yield pools, max(bytes_of_pools, pressure(problem, members, len(pools)).bytes)


def _needed(problem: Problem, plan: Plan, pool: int, limits: Sequence[int | None], least: Sequence[int]) -> int:
    """Return the bytes that a pool needs in every plan that costs no more and keeps the limits."""
    forced = [
        index
        for index, (buffer, cost) in enumerate(zip(problem.buffers, least, strict=True))
        if {other for other in buffer.pools_within(limits) if buffer.cost_in(other) == cost} == {pool}
    ]
    needed = pool_bound(problem, forced).bytes
    if plan.claims and _are_all(problem, plan, pool, forced):
        needed = max(needed, plan.claims[pool])
    others = [limit for index, limit in enumerate(limits) if index != pool]
    if others and None not in others:
        together = pressure(problem, range(len(problem.buffers)), len(limits)).bytes
        needed = max(needed, together - sum(limit or 0 for limit in others))
    return needed


def _are_all(problem: Problem, plan: Plan, pool: int, forced: Collection[int]) -> bool:
    """Whether all non-empty buffers that the plan puts in a pool are among `forced`."""
    inside = {i for i, place in enumerate(plan.allocations) if place.pool == pool and problem.buffers[i].size}
    return inside <= set(forced)
