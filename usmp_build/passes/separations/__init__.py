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

__all__ = ["AllowedDistances", "allowed_distances", "separations", "separations_at", "straight"]

Pair = tuple[int, int]
"""Buffers: written, read."""


def separations(allowed: AllowedDistances, schedule: Schedule, lifetimes: Lifetimes) -> Separations:
    """Return all pairs of buffers whose distance, in bytes, may be less than the size of the lower one."""
    by_pair: dict[Pair, dict[int, _Allowed]] = {}
    for program, start in zip(schedule.programs, schedule.starts, strict=False):
        for step, at in straight(program, start):
            for pair, distance in allowed.at(step):
                by_pair.setdefault(pair, {})[at] = distance
    entries: dict[tuple[int, int], Separation] = {}
    for pair, by_step in sorted(by_pair.items()):
        if _meet_only_at(set(by_step), *(lifetimes.intervals[buffer] for buffer in pair)):
            entries.update(_entries(allowed.storage, pair, list(by_step.values())))
    return Separations(entries)


def separations_at(request: Request, analysis: Analysis, step: Step) -> Iterator[tuple[Pair, tuple[int, int]]]:
    """Yield pairs of buffers (written, read), each with two distances that hold if they meet at this step only.

    The first is the least distance in bytes from the start of the written to that of the read one if the read one is
    above it; the second is the same in the other direction.
    """
    for (written, read), allowed in allowed_distances(request, analysis).at(step):
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


class AllowedDistances:
    """The pairs of buffers that each step lets come closer, and how close; remembered for each operator."""

    def __init__(
        self, request: Request, models: tuple[Model, ...], kernels: Kernels, storage: Storage, survivors: Survivors
    ) -> None:
        self._request = request
        self._models = models
        self._kernels = kernels
        self.storage = storage
        self._survivors = survivors
        self._distances: dict[tuple[OperatorRef, Direction], dict[Pair, Distance]] = {}
        self._by_operator: dict[tuple[OperatorRef, Direction], tuple[tuple[Pair, _Allowed], ...]] = {}

    def at(self, step: Step) -> tuple[tuple[Pair, _Allowed], ...]:
        """Return the distances that the kernel of a step allows, for pairs of buffers."""
        if step.operator is None or not self._request.overlap or step.operator in self.storage.transfers:
            return ()
        key = step.operator, step.direction
        if key not in self._by_operator:
            self._by_operator[key] = tuple(self._of_operator(*key))
        return self._by_operator[key]

    def _of_operator(self, operator: OperatorRef, direction: Direction) -> Iterator[tuple[Pair, _Allowed]]:
        nearest: dict[Pair, Distance] = {}
        for each in [Direction.FORWARD, Direction.BACKWARD] if direction is Direction.EITHER else [direction]:
            pairs = self._directed(operator, each)
            nearest |= {pair: _nearer(nearest.get(pair, near), near) for pair, near in pairs.items()}
        for pair, distance in nearest.items():
            yield pair, _Allowed(distance, operator, direction)

    def _directed(self, operator: OperatorRef, direction: Direction) -> dict[Pair, Distance]:
        key = operator, direction
        if key not in self._distances:
            kernel = self._kernels.get(operator)
            pairs = self._pairs(operator, kernel.towards(direction)) if isinstance(kernel, Kernel) else {}
            self._distances[key] = pairs
        return self._distances[key]

    def _pairs(self, ref: OperatorRef, kernel: Kernel) -> dict[Pair, Distance]:
        """Return the distances of buffers; if several operands are in one buffer, all need access declarations."""
        op = operator_at(self._models, ref)
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
        in_pages = any(self._request.pools[pool].page for pool in buffer.pools)
        kept = index in self._survivors.always or buffer.kind in (Kind.CONSTANT, Kind.VARIABLE)
        return not (kept or in_pages or buffer.cache_line or buffer.copies > 1)

    def _may_meet(self, one: int, other: int) -> bool:
        """Tell whether concurrent models touch the two buffers."""
        users = self.storage.buffers[one].models, self.storage.buffers[other].models
        return any((min(pair), max(pair)) in self._request.concurrent for pair in product(*users))


def allowed_distances(request: Request, analysis: Analysis) -> AllowedDistances:
    """Return the distances that steps allow in an analysis, for any directions."""
    return AllowedDistances(request, analysis.models, analysis.kernels, analysis.storage, analysis.survivors)


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
