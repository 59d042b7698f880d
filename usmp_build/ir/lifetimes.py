"""When buffers hold data: half-open intervals on the timeline of the schedule."""

from __future__ import annotations

from typing import NamedTuple

from usmp_build.frozen import frozen


class Interval(NamedTuple):
    """Steps `start`, `start + 1`, ... `stop - 1`."""

    start: int
    stop: int


@frozen
class Lifetimes:
    """For each buffer of the storage, sorted intervals that do not touch."""

    intervals: tuple[tuple[Interval, ...], ...]


@frozen
class Survivors:
    """The persistent buffers; models may run in any order, each any number of times."""

    always: frozenset[int]
    """Buffers that are alive during all runs: nothing else ever uses their bytes."""
    before: tuple[frozenset[int], ...]
    """For each model, the buffers that may hold data when its run begins; filling its inputs is the first step."""
    after: tuple[frozenset[int], ...]
    """For each model, the buffers that must hold data when its run has ended, written by it or earlier."""
