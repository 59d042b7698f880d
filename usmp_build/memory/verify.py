"""Believe no plan: check every promise it makes, the obvious way.

This file shares nothing with the algorithms, and looks at every conflict, whoever of the two lists it.
"""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.memory.plan import Plan
from usmp_build.memory.problem import Problem


def violations(problem: Problem, plan: Plan) -> tuple[str, ...]:
    """Say in sentences all that is wrong with a plan; empty when it is sound."""
    if len(plan.allocations) != len(problem.buffers):
        return (f"the plan has {len(plan.allocations)} places for {len(problem.buffers)} buffers",)
    misplaced = tuple(_misplaced(problem, plan))
    return misplaced or tuple(_too_close(problem, plan))


def _misplaced(problem: Problem, plan: Plan) -> Iterator[str]:
    """Every buffer is in one of its pools, aligned, and inside."""
    for buffer, (pool, offset) in zip(problem.buffers, plan.allocations, strict=True):
        if type(pool) is not int or type(offset) is not int:
            yield f"{buffer.name} has a place that is not two integers: {pool!r}, {offset!r}"
            continue
        if pool not in buffer.pools:
            allowed = ", ".join(problem.pools[index].name for index in buffer.pools)
            yield f"{buffer.name} is in pool {_pool_name(problem, pool)}, but may only be in: {allowed}"
            continue
        name, limit = problem.pools[pool].name, problem.pools[pool].limit
        if offset < 0:
            yield f"{buffer.name} starts before pool {name}, at {offset}"
        if offset % buffer.alignment != 0:
            yield f"{buffer.name} is at {offset} in {name}, which is not a multiple of its alignment {buffer.alignment}"
        if limit is not None and offset + buffer.size > limit:
            yield f"{buffer.name} ends at {offset + buffer.size} in {name}, beyond the limit {limit}"


def _too_close(problem: Problem, plan: Plan) -> Iterator[str]:
    """Of two buffers in conflict and in one pool, one starts far enough behind the other."""
    listed = [set(others) for others in problem.conflicts]
    for a, others in enumerate(listed):
        for b in sorted(others):
            seen_before = b < a and a in listed[b]
            if b != a and not seen_before and not _apart(problem, plan, a, b):
                yield _clash(problem, plan, min(a, b), max(a, b))


def _apart(problem: Problem, plan: Plan, a: int, b: int) -> bool:
    place_a, place_b = plan.allocations[a], plan.allocations[b]
    return (
        place_a.pool != place_b.pool
        or place_b.offset - place_a.offset >= problem.separation(a, b)
        or place_a.offset - place_b.offset >= problem.separation(b, a)
    )


def _clash(problem: Problem, plan: Plan, a: int, b: int) -> str:
    """For example "conv_1 and conv_2 overlap in sram: [0, 64) and [32, 96)"."""
    (pool, start_a), (_, start_b) = plan.allocations[a], plan.allocations[b]
    buffer_a, buffer_b = problem.buffers[a], problem.buffers[b]
    stop_a, stop_b = start_a + buffer_a.size, start_b + buffer_b.size
    verb = "overlap" if max(start_a, start_b) < min(stop_a, stop_b) else "are too close"
    text = f"{buffer_a.name} and {buffer_b.name} {verb} in {problem.pools[pool].name}"
    text += f": [{start_a}, {stop_a}) and [{start_b}, {stop_b})"
    if (a, b) in problem.separations or (b, a) in problem.separations:
        text += f"; {buffer_b.name} must start at least {problem.separation(a, b)} behind {buffer_a.name}"
        text += f", or {buffer_a.name} {problem.separation(b, a)} behind {buffer_b.name}"
    return text


def _pool_name(problem: Problem, pool: int) -> str:
    return problem.pools[pool].name if 0 <= pool < len(problem.pools) else f"number {pool}"
