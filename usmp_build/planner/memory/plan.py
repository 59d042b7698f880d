"""An answer: a place for every buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from usmp_build.planner.memory.problem import Problem


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
    claims: tuple[int, ...] = ()
    """For each pool the bytes that its algorithm proved to be necessary for the buffers that it put there; empty, or 0
    for a pool, where it proved nothing beyond what `memory.bounds` finds."""
    work: int = 0
    """Nodes of its search, or other units that the algorithm explains; the same on every machine."""
    bound: tuple[int, ...] = ()
    """No plan's `quality` is less: proven by its algorithm.  Empty where it proved nothing."""


def peaks(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Return the bytes that the plan uses of each pool."""
    return tops(problem, dict(enumerate(plan.allocations)))


def of_members(plan: Plan, members: Sequence[int]) -> Plan:
    """Return the places of some buffers: a plan of `restricted(problem, members)`."""
    return Plan(plan.algorithm, tuple(plan.allocations[index] for index in members))


def quality(problem: Problem, plan: Plan) -> tuple[int, ...]:
    """Rank a plan that fits; less is better: cost, the sum of the peaks, then each peak, least preferred pool first."""
    return rank(problem, dict(enumerate(plan.allocations)))


def still_proven(plan: Plan, other: Plan) -> tuple[int, ...]:
    """Return the claims of a plan that hold for another: for pools in which both have the same buffers; else 0."""
    pairs = zip(plan.allocations, other.allocations, strict=True)
    changed = {pool for one, two in pairs if one.pool != two.pool for pool in (one.pool, two.pool)}
    return tuple(0 if pool in changed else claim for pool, claim in enumerate(plan.claims))


def tops(problem: Problem, places: Mapping[int, Allocation]) -> tuple[int, ...]:
    """Return the bytes that some of the buffers (index → place) use of each pool."""
    highest = [0] * len(problem.pools)
    for index, place in places.items():
        highest[place.pool] = max(highest[place.pool], place.offset + problem.buffers[index].size)
    return tuple(highest)


def rank(problem: Problem, places: Mapping[int, Allocation]) -> tuple[int, ...]:
    """Rank places for some of the buffers as `quality` does for all."""
    cost = sum(problem.buffers[index].cost_in(place.pool) for index, place in places.items())
    peaks_ = tops(problem, places)
    return (cost, sum(peaks_), *reversed(peaks_))
