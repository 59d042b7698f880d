"""Packs a pool again along time, many packings side by side: good where buffers hand their bytes on to each other.

Buffers are placed in the order in which they begin, or, in a second sweep, from the last one to end to the first.  So
all that a buffer conflicts with has been placed, or comes later.  Each packing goes on in several ways: the next
buffer touches the one below or above it, comes as close to one as it may, or touches an end of the pool.

    capacity  +---------------+ ..........
              |       a       |           |      c leaves no gap at 1, where it touches b and the bottom,
              +-----+---+-----+    ?      |      one gap at 2, below a, and two gaps elsewhere
                    | b |     2           |
    0         +-----+---+--1--------------+----> step

The packings with the fewest gaps go on; a gap counts more the longer its buffer lives.  Rows of layers that run row by
row end up in rings so, though none is looked for.  A sweep either ends within the capacity or proves nothing.
`core/sweep.cpp` packs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from usmp_build.planner.algorithms.core import LARGEST, Numbers, Object, call, numbers
from usmp_build.planner.algorithms.first_fit import columns
from usmp_build.planner.algorithms.near import near, reach
from usmp_build.planner.memory.components import components
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.pressure import pressure
from usmp_build.planner.memory.problem import Buffer, Problem


def swept(problem: Problem, plan: Plan, visits: int) -> Plan:
    """Return a plan with every buffer in the same pool and lower peaks, or `plan` if no sweep makes one.

    `visits` bounds, for each component, the distances to other buffers that are looked at.  Only pools in which
    buffers may overlap are packed again: for others, the exact search is better.
    """
    places = list(plan.allocations)
    for pool in range(len(problem.pools)):
        members = [index for index, place in enumerate(plan.allocations) if place.pool == pool]
        inside = set(members)
        if any(a in inside and b in inside for a, b in problem.separations):
            for index, offset in _lowered(problem, members, places, visits).items():
                places[index] = Allocation(pool, offset)
    if tuple(places) == plan.allocations:
        return plan
    return replace(plan, algorithm="sweep", allocations=tuple(places))


def _lowered(problem: Problem, members: Sequence[int], places: Sequence[Allocation], visits: int) -> dict[int, int]:
    """Return new offsets for components of one pool that end above what any of them needs."""
    parts = components(problem, members)
    fixed = (each.offset + each.size for each in map(problem.buffers.__getitem__, members) if each.offset is not None)
    enough = max(chain((pressure(problem, part).bytes for part in parts), fixed))
    offsets: dict[int, int] = {}
    for part in parts:
        top = max(places[index].offset + problem.buffers[index].size for index in part)
        offsets |= _least(problem, part, enough, top, visits)
    return offsets


def _least(problem: Problem, part: Sequence[int], low: int, top: int, visits: int) -> dict[int, int]:
    """Return offsets below `top`, at the least capacity from `low` on at which a sweep ends; empty: at none."""
    left = numbers([visits])
    sweeps = [_Sweep(problem, order, left) for order in _orders(problem, part)] if low < top else []
    best: dict[int, int] = {}
    while low < top and left[0] > 0:
        capacity = (low + top) // 2
        offsets = next(filter(None, (sweep.packed(capacity) for sweep in sweeps)), None)
        if offsets is None:
            low = capacity + 1
        else:
            best = offsets
            top = max(offset + problem.buffers[index].size for index, offset in offsets.items())
    return best


def _orders(problem: Problem, part: Sequence[int]) -> Iterator[list[int]]:
    """Yield the orders of the two sweeps; of buffers that begin, or end, at once, the largest one comes first."""
    buffers = problem.buffers
    if all(buffers[index].intervals for index in part):
        yield sorted(part, key=lambda i: (buffers[i].intervals[0][0], -buffers[i].size, buffers[i].name))
        yield sorted(part, key=lambda i: (-buffers[i].intervals[-1][1], -buffers[i].size, buffers[i].name))


class _Sweep:
    """One order of a component, and what each buffer meets; all by place in the order."""

    def __init__(self, problem: Problem, order: list[int], left: Numbers) -> None:
        """`left` is a number: the visits that are left, which packing counts down."""
        self._order, self._left = order, left
        self._sweep: Object | None = None
        """None: the numbers are too large for the core."""
        buffers = [problem.buffers[index] for index in order]
        weights = _weights(buffers)
        if max(reach(problem, order), 2 * sum(weights)) < LARGEST:
            pairs = near(problem, order)
            last = np.arange(len(order))
            np.maximum.at(last, pairs.ones, pairs.others)
            done = np.argsort(last, kind="stable").astype(np.int64)
            """Buffers by the last place that conflicts with them, or their own: after it, they are done."""
            ends = np.searchsorted(last[done], np.arange(len(order) + 1)).astype(np.int64)
            before = pairs.where(pairs.others < pairs.ones)
            arguments = (*columns(buffers), *before.triples, numbers(weights), ends, done)
            self._sweep = Object("sweep", len(order), *arguments)

    def packed(self, capacity: int) -> dict[int, int] | None:
        """Return the offsets of a packing within the capacity; None if no packing got to the end."""
        if self._sweep is None:
            return None
        offsets = numbers([0] * len(self._order))
        is_packed = call("sweep_packed", self._sweep, capacity, self._left, offsets)
        return dict(zip(self._order, offsets, strict=True)) if is_packed else None


def _weights(buffers: Sequence[Buffer]) -> list[int]:
    """Return what a gap beside each buffer counts: the steps that it lives, and those that buffers live on average.

    A gap beside one that lives briefly may stay.
    """
    lives = [sum(stop - start for start, stop in buffer.intervals) for buffer in buffers]
    return [life + sum(lives) // len(lives) for life in lives]
