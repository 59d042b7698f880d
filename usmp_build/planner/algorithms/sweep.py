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
core/sweep.cpp is the same in C++.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

from usmp_build.planner.algorithms.core import LARGEST, MOST_PAIRS, core
from usmp_build.planner.algorithms.first_fit import neighbors
from usmp_build.planner.memory.components import components
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.pressure import pressure
from usmp_build.planner.memory.problem import Buffer, Problem
from usmp_build.units import align_up

_WIDTH = 15
"""Packings that go on after each buffer."""


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


@dataclass(slots=True)
class _Budget:
    """The visits that are left."""

    left: int


def _lowered(problem: Problem, members: Sequence[int], places: Sequence[Allocation], visits: int) -> dict[int, int]:
    """Return new offsets for components of one pool that end above what any of them needs."""
    parts = components(problem, members)
    fixed = (each.offset + each.size for each in map(problem.buffers.__getitem__, members) if each.offset is not None)
    enough = max(chain((pressure(problem, part).bytes for part in parts), fixed))
    offsets: dict[int, int] = {}
    for part in parts:
        top = max(places[index].offset + problem.buffers[index].size for index in part)
        offsets |= _least(problem, part, enough, top, _Budget(visits))
    return offsets


def _least(problem: Problem, part: Sequence[int], low: int, top: int, budget: _Budget) -> dict[int, int]:
    """Return offsets below `top`, at the least capacity from `low` on at which a sweep ends; empty: at none."""
    sweeps = [_Sweep(problem, order, budget) for order in _orders(problem, part)] if low < top else []
    best: dict[int, int] = {}
    while low < top and budget.left > 0:
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


class _Near(NamedTuple):
    """A buffer that is placed before another one, and conflicts with it."""

    buffer: int
    above: int
    """Least distance in bytes from its start up to that of the other one."""
    below: int
    """Least distance from its start down to that of the other one."""
    size: int


class _Packing(NamedTuple):
    """Buffers that are placed, those that nothing can conflict with any more left out."""

    gaps: int
    offsets: dict[int, int]
    path: tuple[int, object] | None
    """The last offset, and the path of the packing before: a linked list."""


class _Sweep:
    """One order of a component, and what each buffer meets."""

    def __init__(self, problem: Problem, order: list[int], budget: _Budget) -> None:
        buffers, places = problem.buffers, {index: place for place, index in enumerate(order)}
        self._buffers, self._order, self._budget = buffers, order, budget
        self._near = [
            [
                _Near(i, above, below, buffers[i].size)
                for i, below, above in neighbors(problem, index)
                if places.get(i, at) < at
            ]
            for at, index in enumerate(order)
        ]
        """For each place in the order, what is placed before it and conflicts with it."""
        self._done: list[set[int]] = [set() for _ in order]
        """For each place, the buffers that nothing after it conflicts with."""
        for index in order:
            last = max(places[i] for i in (index, *problem.conflicts[index]) if i in places)
            self._done[last].add(index)
        lives = [sum(stop - start for start, stop in buffers[index].intervals) for index in order]
        self._weights = [life + sum(lives) // len(lives) for life in lives]
        """For each place, what a gap beside the buffer counts: the steps that it lives, and those that buffers live on
        average, since a gap beside a short one may stay."""
        self._compiled: Any = self._in_core()

    def _in_core(self) -> Any | None:
        """Return the same sweep in the compiled core; None where that is not there, or counts too few bits."""
        module, buffers = core(), [self._buffers[index] for index in self._order]
        near = list(chain.from_iterable(self._near))
        bytes_ = sum(map(max, ((b.end, b.alignment) for b in buffers))) + sum(abs(n.above) + abs(n.below) for n in near)
        if module is None or len(near) > MOST_PAIRS or max(bytes_, 2 * sum(self._weights)) >= LARGEST:
            return None
        places = {index: place for place, index in enumerate(self._order)}
        return module.Sweep(
            [
                (
                    buffer.size,
                    buffer.alignment,
                    -1 if buffer.offset is None else buffer.offset,
                    weight,
                    [(places[each.buffer], each.below, each.above) for each in near],
                    [places[other] for other in done],
                )
                for buffer, weight, near, done in zip(buffers, self._weights, self._near, self._done, strict=True)
            ]
        )

    def packed(self, capacity: int) -> dict[int, int] | None:
        """Return the offsets of a packing within the capacity; None if no packing got to the end."""
        if self._compiled is not None:
            offsets, self._budget.left = self._compiled.packed(capacity, self._budget.left)
            return dict(zip(self._order, offsets, strict=True)) if offsets else None
        packings = [_Packing(0, {}, None)]
        for place in range(len(self._order)):
            following: dict[tuple[tuple[int, int], ...], _Packing] = {}
            for packing in packings:
                for each in self._next(place, packing, capacity):
                    key = tuple(each.offsets.items())
                    if key not in following or each.gaps < following[key].gaps:
                        following[key] = each
            packings = sorted(following.values(), key=lambda packing: packing.gaps)[:_WIDTH]
            if not packings or self._budget.left <= 0:
                return None
        return self._offsets(packings[0])

    def _next(self, place: int, packing: _Packing, capacity: int) -> Iterator[_Packing]:
        """Yield the packings with one more buffer, within the capacity."""
        index = self._order[place]
        buffer = self._buffers[index]
        around = [(packing.offsets[near.buffer], near) for near in self._near[place]]
        for offset in _ends_of_room(around, buffer, capacity - buffer.size):
            self._budget.left -= len(around)
            gaps = _gaps(around, offset, offset + buffer.size, capacity) * self._weights[place]
            offsets = packing.offsets | {index: offset}
            for other in self._done[place]:
                del offsets[other]
            yield _Packing(packing.gaps + gaps, offsets, (offset, packing.path))

    def _offsets(self, packing: _Packing) -> dict[int, int]:
        offsets: dict[int, int] = {}
        path: object = packing.path
        for index in reversed(self._order):
            assert isinstance(path, tuple)
            offsets[index], path = path
        return offsets


def _ends_of_room(around: list[tuple[int, _Near]], buffer: Buffer, highest: int) -> Iterator[int]:
    """Yield the least and the greatest offset of each range, up to `highest`, that others leave free for a buffer."""
    start = 0
    forbidden = sorted((at - near.below, at + near.above) for at, near in around)  # open intervals
    for low, high in (*forbidden, (highest, highest + 1)):
        if start <= (end := min(low, highest)):
            if buffer.offset is not None:
                yield from [buffer.offset] if start <= buffer.offset <= end else ()
            else:
                least, greatest = align_up(start, buffer.alignment), end // buffer.alignment * buffer.alignment
                yield from [least] if least == greatest else [least, greatest] if least < greatest else ()
        start = max(start, high)


def _gaps(around: list[tuple[int, _Near]], offset: int, end: int, capacity: int) -> int:
    """Return on how many sides of a buffer bytes are free up to the next one that does not overlap it: 0, 1 or 2."""
    below, above = 0, capacity
    for at, near in around:
        if at + near.size <= offset:
            below = max(below, at + near.size)
        elif at >= end:
            above = min(above, at)
    return (below < offset) + (above > end)
