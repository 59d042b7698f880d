"""Kernels + Schedule + Lifetimes → how close two buffers may come that one operator touches.

An operator may write over what it has read.  That is known of a pair of buffers when, wherever on the timeline both are
alive, an operator reads the one for the last time, or uses it as scratch, and writes the other for the first time:

    step          3    4    5    6
    input        [=========)          is read in 4 for the last time
    output            [=========)     is written in 4 for the first time: only there both are alive

Everything else keeps its full size: what anybody may look at in between, what has cache lines or rows in pages, what
models touch that may run at the same time, and what a kernel touches of which nothing is declared.  In loops and
branches the step after the next is not always the next on the timeline, so nothing is known there either.
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

__all__ = ["near_at", "separations", "straight"]

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
    """Return all pairs of buffers that may come closer than the size of the lower one."""
    if not request.overlap:
        return Separations()
    finder = _Finder(request, models, kernels, storage, survivors)
    found: dict[Pair, dict[int, _Allowed]] = {}
    for program, start in zip(schedule.programs, schedule.starts, strict=False):
        for step, at in straight(program, start):
            for pair, allowed in finder.of_step(step):
                found.setdefault(pair, {})[at] = allowed
    entries: dict[tuple[int, int], Separation] = {}
    for pair, by_step in sorted(found.items()):
        if _meet_only_at(set(by_step), *(lifetimes.intervals[buffer] for buffer in pair)):
            entries.update(_entries(storage, pair, list(by_step.values())))
    return Separations(entries)


def near_at(request: Request, analysis: Analysis, step: Step) -> Iterator[tuple[Pair, tuple[int, int]]]:
    """Yield pairs of buffers, written and read, and how close they may come if they meet at this step only.

    First how far the read one must start behind the written one where it is above it, then the other way round.
    """
    finder = _Finder(request, analysis.models, analysis.kernels, analysis.storage, analysis.survivors)
    for (written, read), allowed in finder.of_step(step) if request.overlap else ():
        near = dict(_entries(analysis.storage, (written, read), [allowed]))
        sides = ((written, read), (read, written))
        above, below = (near[s].bytes if s in near else analysis.storage.buffers[s[0]].extent for s in sides)
        yield (written, read), (above, below)


def straight(node: Node, at: int) -> Iterator[tuple[Step, int]]:
    """Yield the steps of a program that run once whenever it runs, one after the other, with their times."""
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
    """Whether both are alive at these steps only, where the life of one begins and that of the other ends."""
    met = set()
    for one, other in product(written, read):
        if one.start < other.stop and other.start < one.stop:
            if one.start != other.stop - 1 or one.start not in times:
                return False
            met.add(one.start)
    return met == times


@dataclass(frozen=True, slots=True)
class _Allowed:
    """What a step allows for a pair; None: anything."""

    distance: Distance
    operator: OperatorRef
    direction: Direction


@dataclass(frozen=True)
class _Finder:
    """Looks at one step after the other."""

    request: Request
    models: tuple[Model, ...]
    kernels: Kernels
    storage: Storage
    survivors: Survivors

    def of_step(self, step: Step) -> Iterator[tuple[Pair, _Allowed]]:
        """Yield what the kernel of a step allows, for pairs of buffers."""
        kernel = self.kernels.get(step.operator) if step.operator is not None else None
        if step.operator is None or not isinstance(kernel, Kernel) or step.operator in self.storage.transfers:
            return
        ways = [Direction.FORWARD, Direction.BACKWARD] if step.direction is Direction.EITHER else [step.direction]
        either: dict[Pair, Distance] | None = None
        for way in ways:
            one = self._pairs(step.operator, kernel.towards(way))
            known = either or {}
            either = known | {pair: _nearer(known.get(pair, each), each) for pair, each in one.items()}
        for pair, distance in (either or {}).items():
            yield pair, _Allowed(distance, step.operator, step.direction)

    def _pairs(self, ref: OperatorRef, kernel: Kernel) -> dict[Pair, Distance]:
        """Return the distances of buffers.  Each may be behind several operands, and must be known as each of them."""
        op = operator_at(self.models, ref)
        behind: dict[Operand, int] = {}
        start = partial(offset_behind, ref=ref, op=op, offsets=self.storage.offsets)
        for operand in dict.fromkeys(operand for call in kernel.calls for operand in call.operands):
            if not isinstance(operand, Derived | Absent):
                buffer = buffer_behind(operand, ref, op, self.storage)
                if buffer is not None and self._may_share(buffer):
                    behind[operand] = buffer
        known = distances(kernel) or {}
        said = set(chain.from_iterable(known))
        silent = {buffer for operand, buffer in behind.items() if operand not in said}
        found: dict[Pair, Distance] = {}
        for (written, read), distance in known.items():
            if written in behind and read in behind:
                pair = behind[written], behind[read]
                if pair[0] != pair[1] and silent.isdisjoint(pair) and not self._may_meet(*pair):
                    distance = _between_buffers(distance, start(written), start(read))
                    found[pair] = _farther(found[pair], distance) if pair in found else distance
        return found

    def _may_share(self, index: int) -> bool:
        """Whether anything may ever lie over a buffer, but for its lifetime."""
        buffer = self.storage.buffers[index]
        in_pages = any(self.request.pools[pool].page for pool in buffer.pools)
        kept = index in self.survivors.always or buffer.kind in (Kind.CONSTANT, Kind.VARIABLE)
        return not (kept or in_pages or buffer.cache_line or buffer.copies > 1)

    def _may_meet(self, one: int, other: int) -> bool:
        """Whether two models touch them that may run at the same time."""
        users = self.storage.buffers[one].models, self.storage.buffers[other].models
        return any((min(pair), max(pair)) in self.request.concurrent for pair in product(*users))


def _between_buffers(distance: Distance, written: int, read: int) -> Distance:
    """Return the distance of two buffers from that of two tensors, and the bytes in front of these in their buffers."""
    below, above = distance.written_below, distance.written_above
    return Distance(
        None if below is None else below + written - read,
        None if above is None else above + read - written,
    )


def _farther(one: Distance, other: Distance) -> Distance:
    """What both ask for."""
    return Distance(
        _most(one.written_below, other.written_below),
        _most(one.written_above, other.written_above),
    )


def _most(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _nearer(one: Distance, other: Distance) -> Distance:
    """What one of them asks for, each side for itself."""
    return Distance(
        _least(one.written_below, other.written_below),
        _least(one.written_above, other.written_above),
    )


def _least(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else min(one, other)


def _entries(storage: Storage, pair: Pair, allowed: list[_Allowed]) -> Iterator[tuple[tuple[int, int], Separation]]:
    """Yield the separations of a pair, of several steps the widest, if it is less than the size of the lower one."""
    written, read = pair
    for below, above, sides in (
        (written, read, [each.distance.written_below for each in allowed]),
        (read, written, [each.distance.written_above for each in allowed]),
    ):
        least = -storage.buffers[above].extent  # then `above` ends where `below` begins
        bytes_, which = max((max(least, least if side is None else side), n) for n, side in enumerate(sides))
        if bytes_ < storage.buffers[below].extent:
            yield (below, above), Separation(bytes_, allowed[which].operator, allowed[which].direction)
