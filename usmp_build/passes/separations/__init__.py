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

from collections.abc import Collection, Iterator, Mapping
from itertools import product

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.lifetimes import Interval, Lifetimes
from usmp_build.ir.schedule import Direction, Schedule, Step
from usmp_build.ir.separations import Separation, Separations
from usmp_build.ir.storage import Storage
from usmp_build.passes.separations.allowed import Allowed, AllowedDistances, Pair, straight
from usmp_build.passes.separations.edges import edge_separations

__all__ = ["AllowedDistances", "DirectedSeparations", "separations", "separations_at", "straight"]


def separations(allowed: AllowedDistances, schedule: Schedule, lifetimes: Lifetimes) -> Separations:
    """Return all pairs of buffers whose distance, in bytes, may be less than the size of the lower one."""
    by_pair: dict[Pair, dict[int, Allowed]] = {}
    of_edges: dict[tuple[int, int], Separation] = {}
    for program, start in zip(schedule.programs, schedule.starts, strict=False):
        for step, at in straight(program, start):
            for pair, distance in allowed.at(step):
                by_pair.setdefault(pair, {})[at] = distance
        if allowed.edges():
            of_edges |= edge_separations(allowed, program, start, lifetimes)
    return Separations(_close(allowed.storage, lifetimes, by_pair) | of_edges)


class DirectedSeparations:
    """The separations of an analysis for any directions of `operators`, which run as a whole.

    Only pairs that these touch depend on their directions.  Operators that run row by row decide on none of
    these pairs: a buffer is written once, and one that is read as a whole has no dead rows yet.
    """

    def __init__(self, analysis: Analysis, operators: Collection[OperatorRef]) -> None:
        self._analysis = analysis
        self._allowed: AllowedDistances = analysis.allowed
        programs = zip(analysis.schedule.programs, analysis.schedule.starts, strict=False)
        steps = (each for program, start in programs for each in straight(program, start))
        self._whole = [(step.operator, at) for step, at in steps if step.operator is not None and step.job is None]
        pairs = {pair for ref in operators for each in Direction for pair, _ in self._allowed.of(ref, each)}
        self._touched = pairs | {(read, written) for written, read in pairs}
        close = analysis.separations.pairs
        self._others = {pair: separation for pair, separation in close.items() if pair not in self._touched}

    def towards(self, directions: Mapping[OperatorRef, Direction]) -> Separations:
        """Return the separations for these directions; operators that are not named go as they do in the analysis."""
        by_pair: dict[Pair, dict[int, Allowed]] = {}
        for ref, at in self._whole:
            direction = directions.get(ref, self._analysis.choices.direction(ref))
            for pair, distance in self._allowed.of(ref, direction):
                if pair in self._touched:
                    by_pair.setdefault(pair, {})[at] = distance
        return Separations(self._others | _close(self._allowed.storage, self._analysis.lifetimes, by_pair))


def _close(
    storage: Storage, lifetimes: Lifetimes, by_pair: Mapping[Pair, Mapping[int, Allowed]]
) -> dict[tuple[int, int], Separation]:
    entries: dict[tuple[int, int], Separation] = {}
    for pair, by_step in sorted(by_pair.items()):
        if _meet_only_at(set(by_step), *(lifetimes.intervals[buffer] for buffer in pair)):
            entries.update(_entries(storage, pair, list(by_step.values())))
    return entries


def separations_at(allowed: AllowedDistances, step: Step) -> Iterator[tuple[Pair, tuple[int, int]]]:
    """Yield pairs of buffers (written, read), each with two distances that hold if they meet at this step only.

    The first is the least distance in bytes from the start of the written to that of the read one if the read one is
    above it; the second is the same in the other direction.
    """
    storage = allowed.storage
    for (written, read), distance in allowed.at(step):
        near = dict(_entries(storage, (written, read), [distance]))
        sides = ((written, read), (read, written))
        above, below = (near[s].bytes if s in near else storage.buffers[s[0]].extent for s in sides)
        yield (written, read), (above, below)


def _meet_only_at(times: set[int], written: tuple[Interval, ...], read: tuple[Interval, ...]) -> bool:
    """Tell whether both are alive at exactly these steps, and at each the written one is born and the read one dies."""
    meetings = set()
    for one, other in product(written, read):
        if one.start < other.stop and other.start < one.stop:
            if one.start != other.stop - 1 or one.start not in times:
                return False
            meetings.add(one.start)
    return meetings == times


def _entries(storage: Storage, pair: Pair, allowed: list[Allowed]) -> Iterator[tuple[tuple[int, int], Separation]]:
    """Yield the separations of a pair, the widest of all steps, that are less than the size of the lower buffer."""
    written, read = pair
    for below, above, distances in (
        (written, read, [each.distance.written_below for each in allowed]),
        (read, written, [each.distance.written_above for each in allowed]),
    ):
        lowest = -storage.buffers[above].extent  # at this distance, `above` ends where `below` begins
        widest, which = max((lowest if each is None else max(lowest, each), n) for n, each in enumerate(distances))
        if widest < storage.buffers[below].extent:
            yield (below, above), Separation(widest, allowed[which].operator, allowed[which].direction)
