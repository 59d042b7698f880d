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
