"""Two plans for a model in TensorFlow Lite Micro: the one that it makes itself, and ours."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping

import numpy as np

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.importers.tflite.offline import ONLINE
from usmp_build.planner import library
from usmp_build.planner.memory.alive import conflicts, count_pairs
from usmp_build.planner.memory.problem import UNNAMED_POOL, Pool, Problem
from usmp_build.planner.memory.problem import Buffer as Place
from usmp_build.planner.memory.timeline import Timeline
from usmp_build.tflm.lifetimes import ALIGNMENT, Buffer, Demand


@frozen
class Offer:
    """Our plan, and what it is compared with."""

    offsets: tuple[int, ...]
    """In bytes from the start of the arena, of each tensor of all subgraphs; `ONLINE` for what is not planned."""
    head: int
    """Bytes that it takes, with the scratch buffers that TensorFlow Lite Micro places between the tensors."""
    before: int
    """Bytes without it."""


def plan(demand: Demand, stored: Mapping[int, int]) -> Offer:
    """Plan a model whose file has the offsets `stored`, by tensor; scratch buffers are kept free where they are."""
    buffers = [*demand.buffers.values(), *demand.scratch]
    offsets = [ONLINE] * demand.tensors
    for number, offset in zip(demand.buffers, _packed(buffers), strict=False):
        offsets[number] = offset
    placed = {number: offset for number, offset in enumerate(offsets) if offset != ONLINE}
    return Offer(tuple(offsets), _head(demand, placed), _head(demand, stored))


def _packed(buffers: list[Buffer]) -> list[int]:
    """Return offsets: exact ones where the pairs of buffers are few enough to be listed."""
    if not buffers:
        return []
    lower, upper, size = (np.array(column, np.int64) for column in zip(*map(_row, buffers), strict=True))
    problem: Problem | Timeline = Timeline(lower, upper, size, np.full(len(buffers), ALIGNMENT, np.int64))
    if count_pairs(lower, upper) <= effort.LISTED_PAIRS:
        lifetimes = [((buffer.first, buffer.last + 1),) for buffer in buffers]
        fields = enumerate(zip(buffers, lifetimes, strict=True))
        listed = (Place(str(i), each.size, (0,), (), ALIGNMENT, lifetime) for i, (each, lifetime) in fields)
        problem = Problem((Pool(UNNAMED_POOL, None),), tuple(listed), conflicts(lifetimes))
    solution = library.solve(problem)
    if solution.plan is None:
        raise ValueError("there is always a plan without limits")
    return [allocation.offset for allocation in solution.plan.allocations]


def _row(buffer: Buffer) -> tuple[int, int, int]:
    return buffer.first, buffer.last + 1, buffer.size


def _head(demand: Demand, offsets: Mapping[int, int]) -> int:
    """Return the bytes that TensorFlow Lite Micro's greedy planner takes, given the offsets of some tensors.

    Those stay where they are.  All others are placed from the largest to the smallest, of equal ones the last first:
    each in the lowest gap between those that are alive with it.
    """
    numbers = [*demand.buffers, *range(demand.tensors, demand.tensors + len(demand.scratch))]
    rows = list(zip(numbers, [*demand.buffers.values(), *demand.scratch], strict=True))
    placed: list[tuple[int, int, Buffer]] = []
    for number, buffer in rows:
        if number in offsets:
            insort(placed, (offsets[number], len(placed), buffer))
    free = [buffer for number, buffer in reversed(rows) if number not in offsets]
    for buffer in sorted(free, key=lambda buffer: -buffer.size):
        insort(placed, (_gap(buffer, placed), len(placed), buffer))
    return max((offset + buffer.size for offset, _, buffer in placed), default=0)


def _gap(buffer: Buffer, placed: list[tuple[int, int, Buffer]]) -> int:
    end = 0
    for offset, _, other in placed:
        if other.first <= buffer.last and buffer.first <= other.last:
            if offset - end >= buffer.size:
                break
            end = max(end, offset + other.size)
    return end
