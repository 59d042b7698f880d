"""An answer: a place for every buffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from usmp_build.memory.problem import Problem


class Allocation(NamedTuple):
    """A place: index of the pool, and bytes from its start."""

    pool: int
    offset: int


@dataclass(frozen=True, slots=True)
class Plan:
    """`allocations[i]` is the place of `problem.buffers[i]`."""

    algorithm: str
    """Who made it."""
    allocations: tuple[Allocation, ...]


def peaks(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Return the bytes that the plan uses of each pool."""
    tops = [0] * len(problem.pools)
    for buffer, place in zip(problem.buffers, plan.allocations, strict=True):
        tops[place.pool] = max(tops[place.pool], place.offset + buffer.size)
    return tuple(tops)


def quality(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Rank a plan that fits; less is better: total cost, then the peaks, least preferred pool first."""
    pairs = zip(problem.buffers, plan.allocations, strict=True)
    cost = sum(buffer.cost_in(place.pool) for buffer, place in pairs)
    return (cost, *reversed(peaks(problem, plan)))
