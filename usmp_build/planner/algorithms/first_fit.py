"""First fit: places buffers one after another, each at the least offset that those before it leave free.

A conflict with a buffer that is already placed forbids an open interval of offsets.  The least offset outside all of
them is at the start of the pool or at the end of an interval, so gaps are filled:

    0        |<- interval ->|        |<- interval ->|
    +--------(//////////////)--------(//////////////)-------> offset
    ^ first candidate       ^ second                ^ third

Buffers with a fixed offset come before all others, whatever the order says: the others go around them.

All members of a clique conflict, so what those placed before take is remembered as ranges, mostly one for each pool.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from usmp_build.planner.memory.clique import clique_of
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Buffer, Problem
from usmp_build.units import align_up

_NONE_PLACED: Mapping[int, Allocation] = MappingProxyType({})

Neighbor: TypeAlias = tuple[int, int, int]
"""Another buffer, and the least distances in bytes: its start above ours, ours above its."""

_NO_NEIGHBORS: Mapping[int, list[Neighbor]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of first fit, complete or not."""

    placed: Mapping[int, Allocation]
    """Index of a buffer → its place, in the order in which they were placed."""
    stuck: int | None = None
    """The first buffer that found no room in any of its pools; None when all did."""

    def plan(self, algorithm: str) -> Plan | None:
        """Return the places of all buffers of a problem as a plan; None when one is stuck."""
        if self.stuck is not None:
            return None
        return Plan(algorithm, tuple(self.placed[index] for index in range(len(self.placed))))


def neighbors(problem: Problem, index: int) -> list[Neighbor]:
    """Return the buffers that a buffer conflicts with, and the distances to keep."""
    conflicts, buffers, stated = problem.conflicts[index], problem.buffers, problem.separations
    size = buffers[index].size
    if not stated:
        return [(other, size, buffers[other].size) for other in conflicts]
    return [
        (other, stated.get((index, other), size), stated.get((other, index), buffers[other].size))
        for other in conflicts
    ]


def first_fit(
    problem: Problem,
    order: Iterable[int],
    placed: Mapping[int, Allocation] = _NONE_PLACED,
    *,
    overflow: bool = False,
    neighbors_by_buffer: Mapping[int, list[Neighbor]] = _NO_NEIGHBORS,
) -> Attempt:
    """Place buffers in the given order, those with fixed offsets first; each goes to its first pool that has room.

    The buffers of `placed` are placed already.  With `overflow`, limits may be exceeded: where no pool has room, the
    buffer goes to the one whose limit it exceeds least, and only a fixed one that overlaps another is stuck.
    `neighbors_by_buffer` caches the `neighbors` of buffers, for callers that plan repeatedly.
    """
    places = dict(placed)
    taken = _Taken(problem, placed)
    for index in sorted(order, key=lambda index: problem.buffers[index].offset is None):
        buffer = problem.buffers[index]
        if clique_of(problem, index) is None:
            near = neighbors_by_buffer.get(index) or neighbors(problem, index)
            place, beyond = _best_place(problem, buffer, _forbidden(buffer, places, near))
        else:
            place, beyond = _best_place(problem, buffer, taken.forbidden(index))
        if place is None or (beyond > 0 and not overflow):
            return Attempt(places, stuck=index)
        places[index] = place
        taken.add(index, place)
    return Attempt(places)


def _best_place(
    problem: Problem, buffer: Buffer, forbidden: Mapping[int, list[tuple[int, int]]]
) -> tuple[Allocation | None, int]:
    """Return the place that exceeds the limit of its pool by the fewest bytes, and by how many: nearly always 0."""
    best: tuple[Allocation | None, int] = (None, 0)
    for pool, intervals in forbidden.items():
        offset = _least_free(intervals, buffer.alignment) if buffer.offset is None else _fixed_offset(intervals, buffer)
        if offset is not None:
            limit = problem.pools[pool].limit
            beyond = max(0, offset + buffer.size - limit) if limit is not None else 0
            if beyond == 0:
                return Allocation(pool, offset), 0
            if best[0] is None or beyond < best[1]:
                best = Allocation(pool, offset), beyond
    return best


def _forbidden(
    buffer: Buffer, placed: Mapping[int, Allocation], neighbors_: Iterable[Neighbor]
) -> dict[int, list[tuple[int, int]]]:
    """Return for each pool of a buffer the open intervals of offsets at which it would be too close to another."""
    forbidden: dict[int, list[tuple[int, int]]] = {pool: [] for pool in buffer.pools}
    for other, below, above in neighbors_:
        place = placed.get(other)
        if place is not None and place.pool in forbidden:
            forbidden[place.pool].append((place.offset - below, place.offset + above))
    return forbidden


class _Taken:
    """The bytes that the placed members of cliques take: ranges (start, stop), of which no two touch."""

    def __init__(self, problem: Problem, placed: Mapping[int, Allocation]) -> None:
        self._problem = problem
        self._ranges: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        """By the identity of the clique, and the pool."""
        for index, place in placed.items():
            self.add(index, place)

    def add(self, index: int, place: Allocation) -> None:
        """Add a buffer, if it is in a clique."""
        clique = clique_of(self._problem, index)
        if clique is not None:
            start, stop = place.offset, place.offset + self._problem.buffers[index].size
            ranges = self._ranges[id(clique), place.pool]
            joined = [(start, stop), *(each for each in ranges if each[0] <= stop and start <= each[1])]
            ranges[:] = [each for each in ranges if each not in joined]
            ranges.append((min(joined)[0], max(each[1] for each in joined)))

    def forbidden(self, index: int) -> dict[int, list[tuple[int, int]]]:
        """Return what `_forbidden` does, with adjacent intervals joined, for a member of a clique."""
        clique, buffer = clique_of(self._problem, index), self._problem.buffers[index]
        ranges = {pool: self._ranges[id(clique), pool] for pool in buffer.pools}
        return {pool: [(start - buffer.size, stop) for start, stop in each] for pool, each in ranges.items()}


def _least_free(intervals: list[tuple[int, int]], alignment: int) -> int:
    offset = 0
    for below, above in sorted(intervals):
        if offset <= below:
            break  # and below all further intervals
        if offset < above:
            offset = align_up(above, alignment)
    return offset


def _fixed_offset(intervals: list[tuple[int, int]], buffer: Buffer) -> int | None:
    """Return the fixed offset of the buffer; None where it is forbidden."""
    offset = buffer.offset
    if offset is None or offset < 0 or offset % buffer.alignment:
        return None
    return None if any(below < offset < above for below, above in intervals) else offset
