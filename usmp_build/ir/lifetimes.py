"""When buffers hold data: half-open intervals on the timeline of the schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Interval(NamedTuple):
    """Steps `start`, `start + 1`, ... `stop - 1`."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """For each buffer of the storage, sorted intervals that do not touch."""

    intervals: tuple[tuple[Interval, ...], ...]


@dataclass(frozen=True, slots=True)
class Survivors:
    """What is alive between runs, by buffer; models may run in any order, each any number of times."""

    always: frozenset[int]
    """Nobody else ever uses their bytes."""
    before: tuple[frozenset[int], ...]
    """For each model, what may hold data when a run of it begins: filling its inputs is the first step."""
    after: tuple[frozenset[int], ...]
    """For each model, what must hold its data when a run of it has ended, written by it or before it."""
