"""Plans: a place for every buffer, and how plans are ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from usmp_build.frozen import frozen
from usmp_build.planner.memory.problem import Problem


class Allocation(NamedTuple):
    """A place: index of the pool, and bytes from its start."""

    pool: int
    offset: int


@frozen
class Plan:
    """`allocations[i]` is the place of `problem.buffers[i]`."""

    algorithm: str
    """The name of the algorithm that made it."""
    allocations: tuple[Allocation, ...]
    claims: tuple[int, ...] = ()
    """Certified bounds: for each pool the bytes that the algorithm proved to be necessary for the buffers that it put
    there; empty, or 0 for a pool, where it proved no more than `memory.bounds` does."""
    work: int = 0
    """Nodes of the search, or other units that the algorithm documents; the same on every machine."""
    bound: tuple[int, ...] = ()
    """A lower bound of every plan's `quality`, proven by the algorithm; empty where it proved nothing."""


def peaks(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Return the bytes that the plan uses of each pool."""
    return tops(problem, dict(enumerate(plan.allocations)))


def of_members(plan: Plan, members: Sequence[int]) -> Plan:
    """Return the places of these buffers: a plan of `restricted(problem, members)`."""
    return Plan(plan.algorithm, tuple(plan.allocations[index] for index in members))


def quality(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Return the rank of a plan, less is better: cost, sum of peaks, then each peak, least preferred pool first."""
    return rank(problem, dict(enumerate(plan.allocations)))


def still_proven(plan: Plan, other: Plan) -> tuple[int, ...]:
    """Return the claims that still hold for another plan: of pools in which both have the same buffers; otherwise 0."""
    pairs = zip(plan.allocations, other.allocations, strict=True)
    changed = {pool for one, two in pairs if one.pool != two.pool for pool in (one.pool, two.pool)}
    return tuple(0 if pool in changed else claim for pool, claim in enumerate(plan.claims))


def tops(problem: Problem, places: Mapping[int, Allocation]) -> tuple[int, ...]:
    """Return the bytes that placed buffers (index → place) use of each pool."""
    highest = [0] * len(problem.pools)
    for index, place in places.items():
        highest[place.pool] = max(highest[place.pool], place.offset + problem.buffers[index].size)
    return tuple(highest)


def rank(problem: Problem, places: Mapping[int, Allocation]) -> tuple[int, ...]:
    """Rank the places of a subset of buffers as `quality` does for all."""
    cost = sum(problem.buffers[index].cost_in(place.pool) for index, place in places.items())
    peaks_ = tops(problem, places)
    return (cost, sum(peaks_), *reversed(peaks_))
