"""Verify plans: check each property that a plan must have, in the most obvious way.

This file imports no algorithm, and checks every conflict that either of two buffers lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from usmp_build.planner.memory.clique import cliques
from usmp_build.planner.memory.plan import Allocation, Plan, peaks, quality
from usmp_build.planner.memory.problem import Problem


def violations(problem: Problem, plan: object) -> tuple[str, ...]:
    """Return all that is wrong with a plan, or with what was returned as one, in sentences; empty when it is valid."""
    if not isinstance(plan, Plan):
        return (f"it is no Plan, but of type {type(plan).__name__}",)
    for check in (_malformed, _misplaced, _too_close, _overclaimed):  # each relies on those before it
        if faults := tuple(check(problem, plan)):
            return faults
    return ()


def _malformed(problem: Problem, plan: Plan) -> Iterator[str]:
    """Check that every buffer has a place, and every place is a pool and an offset."""
    if type(plan.allocations) is not tuple:
        yield f"its allocations are no tuple, but of type {type(plan.allocations).__name__}"
    elif len(plan.allocations) != len(problem.buffers):
        yield f"the plan has {len(plan.allocations)} places for {len(problem.buffers)} buffers"
    else:
        for buffer, place in zip(problem.buffers, plan.allocations, strict=True):
            if not isinstance(place, Allocation):
                yield f"{buffer.name} has a place that is no Allocation: {place!r}"
            elif type(place.pool) is not int or type(place.offset) is not int:
                yield f"{buffer.name} has a place that is not two integers: {place.pool!r}, {place.offset!r}"
    if type(plan.algorithm) is not str or type(plan.work) is not int:
        yield f"its algorithm and work are no text and integer: {plan.algorithm!r}, {plan.work!r}"
    yield from _malformed_claims(problem, plan)


def _malformed_claims(problem: Problem, plan: Plan) -> Iterator[str]:
    """Check that claims and bound are tuples of integers of the right length."""
    if type(plan.claims) is not tuple or any(type(claim) is not int for claim in plan.claims):
        yield f"its claims are no tuple of integers: {plan.claims!r}"
    elif len(plan.claims) not in (0, len(problem.pools)):
        yield f"it claims something of {len(plan.claims)} pools, where there are {len(problem.pools)}"
    if type(plan.bound) is not tuple or any(type(value) is not int for value in plan.bound):
        yield f"its bound is no tuple of integers: {plan.bound!r}"
    elif len(plan.bound) not in (0, 2 + len(problem.pools)):
        yield f"its bound has {len(plan.bound)} values, where there are cost, sum and {len(problem.pools)} peaks"


def _misplaced(problem: Problem, plan: Plan) -> Iterator[str]:
    """Check that every buffer is in one of its pools, aligned, and within the limit."""
    for buffer, (pool, offset) in zip(problem.buffers, plan.allocations, strict=True):
        if pool not in buffer.pools:
            allowed = ", ".join(problem.pools[index].name for index in buffer.pools)
            yield f"{buffer.name} is in pool {_pool_name(problem, pool)}, but may only be in: {allowed}"
            continue
        name, limit = problem.pools[pool].name, problem.pools[pool].limit
        if buffer.offset is not None and offset != buffer.offset:
            yield f"{buffer.name} is at {offset} in {name}, but must be at {buffer.offset}"
        if offset < 0:
            yield f"{buffer.name} starts before pool {name}, at {offset}"
        if offset % buffer.alignment != 0:
            yield f"{buffer.name} is at {offset} in {name}, which is not a multiple of its alignment {buffer.alignment}"
        if limit is not None and offset + buffer.size > limit:
            yield f"{buffer.name} ends at {offset + buffer.size} in {name}, beyond the limit {limit}"


def _too_close(problem: Problem, plan: Plan) -> Iterator[str]:
    """Check that of two conflicting buffers in one pool, one starts far enough above the other."""
    stated, places = problem.separations, plan.allocations
    close = {(a, b) for a, b in _overlapping(problem, plan) if (a, b) not in stated and (b, a) not in stated}
    for a, b in stated:
        is_close = places[a].pool == places[b].pool and not _apart(problem, plan, a, b)
        if is_close and (b in problem.conflicts[a] or a in problem.conflicts[b]):
            close.add((min(a, b), max(a, b)))
    for a, b in sorted(close):
        yield _clash(problem, plan, a, b)


def _overlapping(problem: Problem, plan: Plan) -> Iterator[tuple[int, int]]:
    """Yield conflicting buffers of one pool that have bytes in common, the lower index first."""
    ends = [place.offset + buffer.size for place, buffer in zip(plan.allocations, problem.buffers, strict=True)]
    room = max(ends, default=0)
    starts = [place.pool * room + place.offset for place in plan.allocations]  # as if pools were side by side
    stops = [start + buffer.size for start, buffer in zip(starts, problem.buffers, strict=True)]
    checked = set(_side_by_side(problem, starts, stops))
    for a, others in enumerate(problem.conflicts):
        if a not in checked:
            start, stop = starts[a], stops[a]
            close = [b for b in others if starts[b] < stop and start < stops[b]]
            yield from ((min(a, b), max(a, b)) for b in close if a != b)


def _side_by_side(problem: Problem, starts: Sequence[int], stops: Sequence[int]) -> Iterator[int]:
    """Yield the members of those cliques in which no two buffers have bytes in common."""
    for clique in cliques(problem):
        ordered = sorted(clique, key=lambda index: (starts[index], stops[index]))
        if all(stops[one] <= starts[other] for one, other in pairwise(ordered)):
            yield from clique


def _apart(problem: Problem, plan: Plan, a: int, b: int) -> bool:
    place_a, place_b = plan.allocations[a], plan.allocations[b]
    return (
        place_a.pool != place_b.pool
        or place_b.offset - place_a.offset >= problem.separation(a, b)
        or place_a.offset - place_b.offset >= problem.separation(b, a)
    )


def _overclaimed(problem: Problem, plan: Plan) -> Iterator[str]:
    """Check the claims: no pool needs more than the plan uses of it, and the bound is no worse than this plan."""
    if plan.bound > quality(problem, plan):
        yield f"it claims that no plan is better than {plan.bound}, and its cost and peaks are {quality(problem, plan)}"
    for pool, peak, claim in zip(problem.pools, peaks(problem, plan), plan.claims or (), strict=False):
        if claim > peak:
            yield f"it claims that pool {pool.name} needs {claim} bytes, and uses {peak}"


def _clash(problem: Problem, plan: Plan, a: int, b: int) -> str:
    """For example "conv_1 and conv_2 overlap in sram: [0, 64) and [32, 96)"."""
    (pool, start_a), (_, start_b) = plan.allocations[a], plan.allocations[b]
    buffer_a, buffer_b = problem.buffers[a], problem.buffers[b]
    stop_a, stop_b = start_a + buffer_a.size, start_b + buffer_b.size
    verb = "overlap" if max(start_a, start_b) < min(stop_a, stop_b) else "are too close"
    text = f"{buffer_a.name} and {buffer_b.name} {verb} in {problem.pools[pool].name}"
    text += f": [{start_a}, {stop_a}) and [{start_b}, {stop_b})"
    if (a, b) in problem.separations or (b, a) in problem.separations:
        text += f"; {buffer_b.name} must start at least {problem.separation(a, b)} after {buffer_a.name}"
        text += f", or {buffer_a.name} {problem.separation(b, a)} after {buffer_b.name}"
    return text


def _pool_name(problem: Problem, pool: int) -> str:
    return problem.pools[pool].name if 0 <= pool < len(problem.pools) else f"number {pool}"
