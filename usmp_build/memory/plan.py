"""An answer: a place for every buffer."""

from __future__ import annotations

from collections.abc import Mapping
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
    return tops(problem, dict(enumerate(plan.allocations)))


def quality(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Rank a plan that fits; less is better: total cost, then the peaks, least preferred pool first."""
    return rank(problem, dict(enumerate(plan.allocations)))


def tops(problem: Problem, places: Mapping[int, Allocation]) -> tuple[int, ...]:
    """Return the bytes that some of the buffers (index → place) use of each pool."""
    highest = [0] * len(problem.pools)
    for index, place in places.items():
        highest[place.pool] = max(highest[place.pool], place.offset + problem.buffers[index].size)
    return tuple(highest)


def rank(problem: Problem, places: Mapping[int, Allocation]) -> tuple[int, ...]:
    """Rank places for some of the buffers as `quality` does for all."""
    cost = sum(problem.buffers[index].cost_in(place.pool) for index, place in places.items())
    return (cost, *reversed(tops(problem, places)))
