"""Computes separations: how close two buffers touched by one operator may be placed to each other.

An operator may overwrite what it has already read.  Two buffers may overlap if, at every step where both are alive, an
operator reads the one for the last time, or uses it as scratch, and writes the other for the first time:

    step          3    4    5    6
    input        [=========)          is read for the last time in step 4
    output            [=========)     is written for the first time in step 4: only there both are alive

All other pairs keep their full distance: buffers that are read between runs, that have cache lines or rows in pages,
that concurrent models touch, or that a kernel touches without an access declaration.  So do pairs in loops and
branches, where the next step on the timeline is not always the next one to run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, product

from usmp_build.interfaces.analysis import Analysis, Kernels
from usmp_build.interfaces.kernels import Absent, Derived, Kernel, Operand
from usmp_build.interfaces.operands import buffer_behind, offset_behind
from usmp_build.ir.graph import Model, OperatorRef, operator_at
from usmp_build.ir.lifetimes import Interval, Lifetimes, Survivors
from usmp_build.ir.schedule import Call, Direction, Node, Schedule, Scope, Sequence, Step, steps
from usmp_build.ir.separations import Separation, Separations
from usmp_build.ir.storage import Kind, Storage
from usmp_build.passes.separations.distances import Distance, distances
from usmp_build.request import Request

__all__ = ["separations", "separations_at", "straight"]

Pair = tuple[int, int]
"""Buffers: written, read."""


def separations(
    request: Request,
    models: tuple[Model, ...],
    kernels: Kernels,
    schedule: Schedule,
    storage: Storage,
    survivors: Survivors,
    lifetimes: Lifetimes,
) -> Separations:
    """Return all pairs of buffers whose distance, in bytes, may be less than the size of the lower one."""
    if not request.overlap:
        return Separations()
    finder = _Finder(request, models, kernels, storage, survivors)
    allowed_by_pair: dict[Pair, dict[int, _Allowed]] = {}
    for program, start in zip(schedule.programs, schedule.starts, strict=False):
        for step, at in straight(program, start):
            for pair, allowed in finder.of_step(step):
                allowed_by_pair.setdefault(pair, {})[at] = allowed
    entries: dict[tuple[int, int], Separation] = {}
    for pair, by_step in sorted(allowed_by_pair.items()):
        if _meet_only_at(set(by_step), *(lifetimes.intervals[buffer] for buffer in pair)):
            entries.update(_entries(storage, pair, list(by_step.values())))
    return Separations(entries)


def separations_at(request: Request, analysis: Analysis, step: Step) -> Iterator[tuple[Pair, tuple[int, int]]]:
    """Yield pairs of buffers (written, read), each with two distances that hold if they meet at this step only.

    The first is the least distance in bytes from the start of the written to that of the read one if the read one is
    above it; the second is the same in the other direction.
    """
    finder = _Finder(request, analysis.models, analysis.kernels, analysis.storage, analysis.survivors)
    for (written, read), allowed in finder.of_step(step) if request.overlap else ():
        near = dict(_entries(analysis.storage, (written, read), [allowed]))
        sides = ((written, read), (read, written))
        above, below = (near[s].bytes if s in near else analysis.storage.buffers[s[0]].extent for s in sides)
        yield (written, read), (above, below)


def straight(node: Node, at: int) -> Iterator[tuple[Step, int]]:
    """Yield the steps outside loops and branches, each with its position on the timeline; `at` is the node's."""
    match node:
        case Step():
            yield node, at
        case Sequence(body):
            for child in body:
                yield from straight(child, at)
                at += sum(1 for _ in steps(child))
        case Call(_, body) | Scope(_, body):
            yield from straight(body, at)


def _meet_only_at(times: set[int], written: tuple[Interval, ...], read: tuple[Interval, ...]) -> bool:
    """Tell whether both are alive at exactly these steps, and at each the written one is born and the read one dies."""
    meetings = set()
    for one, other in product(written, read):
        if one.start < other.stop and other.start < one.stop:
            if one.start != other.stop - 1 or one.start not in times:
                return False
            meetings.add(one.start)
    return meetings == times


@dataclass(frozen=True, slots=True)
class _Allowed:
    """The distance that a step allows for a pair of buffers, and why."""

    distance: Distance
    operator: OperatorRef
    direction: Direction


@dataclass(frozen=True)
class _Finder:
    """Finds the pairs of buffers that one step lets come closer."""

    request: Request
    models: tuple[Model, ...]
    kernels: Kernels
    storage: Storage
    survivors: Survivors

    def of_step(self, step: Step) -> Iterator[tuple[Pair, _Allowed]]:
        """Yield the distances that the kernel of a step allows, for pairs of buffers."""
        kernel = self.kernels.get(step.operator) if step.operator is not None else None
        if step.operator is None or not isinstance(kernel, Kernel) or step.operator in self.storage.transfers:
            return
        directions = [Direction.FORWARD, Direction.BACKWARD] if step.direction is Direction.EITHER else [step.direction]
        nearest: dict[Pair, Distance] = {}
        for direction in directions:
            pairs = self._pairs(step.operator, kernel.towards(direction))
            nearest |= {pair: _nearer(nearest.get(pair, each), each) for pair, each in pairs.items()}
        for pair, distance in nearest.items():
            yield pair, _Allowed(distance, step.operator, step.direction)

    def _pairs(self, ref: OperatorRef, kernel: Kernel) -> dict[Pair, Distance]:
        """Return the distances of buffers; if several operands are in one buffer, all need access declarations."""
        op = operator_at(self.models, ref)
        buffers: dict[Operand, int] = {}
        start = partial(offset_behind, ref=ref, op=op, offsets=self.storage.offsets)
        for operand in dict.fromkeys(operand for call in kernel.calls for operand in call.operands):
            if not isinstance(operand, Derived | Absent):
                buffer = buffer_behind(operand, ref, op, self.storage)
                if buffer is not None and self._may_share(buffer):
                    buffers[operand] = buffer
        declared_distances = distances(kernel) or {}
        declared = set(chain.from_iterable(declared_distances))
        undeclared = {buffer for operand, buffer in buffers.items() if operand not in declared}
        farthest: dict[Pair, Distance] = {}
        for (written, read), distance in declared_distances.items():
            if written in buffers and read in buffers:
                pair = buffers[written], buffers[read]
                if pair[0] != pair[1] and undeclared.isdisjoint(pair) and not self._may_meet(*pair):
                    distance = _between_buffers(distance, start(written), start(read))
                    farthest[pair] = _farther(farthest[pair], distance) if pair in farthest else distance
        return farthest

    def _may_share(self, index: int) -> bool:
        """Tell whether anything may overlap a buffer while it is alive."""
        buffer = self.storage.buffers[index]
        in_pages = any(self.request.pools[pool].page for pool in buffer.pools)
        kept = index in self.survivors.always or buffer.kind in (Kind.CONSTANT, Kind.VARIABLE)
        return not (kept or in_pages or buffer.cache_line or buffer.copies > 1)

    def _may_meet(self, one: int, other: int) -> bool:
        """Tell whether concurrent models touch the two buffers."""
        users = self.storage.buffers[one].models, self.storage.buffers[other].models
        return any((min(pair), max(pair)) in self.request.concurrent for pair in product(*users))


def _between_buffers(distance: Distance, written: int, read: int) -> Distance:
    """Return the distance of two buffers, given that of two tensors and the offsets of these in their buffers."""
    below, above = distance.written_below, distance.written_above
    return Distance(
        None if below is None else below + written - read,
        None if above is None else above + read - written,
    )


def _farther(one: Distance, other: Distance) -> Distance:
    """Return the distance that satisfies both, the larger one on each side."""
    return Distance(
        _most(one.written_below, other.written_below),
        _most(one.written_above, other.written_above),
    )


def _most(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _nearer(one: Distance, other: Distance) -> Distance:
    """Return the smaller distance on each side."""
    return Distance(
        _least(one.written_below, other.written_below),
        _least(one.written_above, other.written_above),
    )


def _least(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else min(one, other)


def _entries(storage: Storage, pair: Pair, allowed: list[_Allowed]) -> Iterator[tuple[tuple[int, int], Separation]]:
    """Yield the separations of a pair, the widest of all steps, where less than the size of the lower buffer."""
    written, read = pair
    for below, above, sides in (
        (written, read, [each.distance.written_below for each in allowed]),
        (read, written, [each.distance.written_above for each in allowed]),
    ):
        least = -storage.buffers[above].extent  # at this distance, `above` ends where `below` begins
        bytes_, which = max((max(least, least if side is None else side), n) for n, side in enumerate(sides))
        if bytes_ < storage.buffers[below].extent:
            yield (below, above), Separation(bytes_, allowed[which].operator, allowed[which].direction)
