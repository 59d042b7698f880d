"""First fit: buffers one after the other, each at the least offset that those before it leave free.

A conflict with a buffer that has its place forbids an open interval of offsets.  The least offset outside all of
them is at the start of the pool or at the end of an interval, so gaps are filled:

    0        |<- interval ->|        |<- interval ->|
    +--------(//////////////)--------(//////////////)-------> offset
    ^ first candidate       ^ second                ^ third
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from usmp_build.memory.plan import Allocation, Plan
from usmp_build.memory.problem import Problem
from usmp_build.units import align_up


@dataclass(frozen=True, slots=True)
class Attempt:
    """How far first fit came."""

    placed: Mapping[int, Allocation]
    """Index of a buffer → its place."""
    stuck: int | None = None
    """The buffer that found no room in any of its pools; None when all did."""

    def plan(self, algorithm: str) -> Plan | None:
        """Return the places of all buffers of a problem as a plan; None when one is stuck."""
        if self.stuck is not None:
            return None
        return Plan(algorithm, tuple(self.placed[index] for index in range(len(self.placed))))


def first_fit(problem: Problem, order: Iterable[int]) -> Attempt:
    """Place buffers in the given order; a buffer goes to the first of its pools that has room."""
    placed: dict[int, Allocation] = {}
    for index in order:
        place = _room(problem, index, placed)
        if place is None:
            return Attempt(placed, stuck=index)
        placed[index] = place
    return Attempt(placed)


def _room(problem: Problem, index: int, placed: Mapping[int, Allocation]) -> Allocation | None:
    buffer = problem.buffers[index]
    forbidden: dict[int, list[tuple[int, int]]] = {pool: [] for pool in buffer.pools}
    for other in problem.conflicts[index]:
        place = placed.get(other)
        if place is not None and place.pool in forbidden:
            below = place.offset - problem.separation(index, other)
            above = place.offset + problem.separation(other, index)
            forbidden[place.pool].append((below, above))
    for pool, intervals in forbidden.items():
        offset = _least_free(intervals, buffer.alignment)
        limit = problem.pools[pool].limit
        if limit is None or offset + buffer.size <= limit:
            return Allocation(pool, offset)
    return None


def _least_free(intervals: list[tuple[int, int]], alignment: int) -> int:
    offset = 0
    for below, above in sorted(intervals):
        if offset <= below:
            break  # and below all further intervals
        if offset < above:
            offset = align_up(above, alignment)
    return offset
