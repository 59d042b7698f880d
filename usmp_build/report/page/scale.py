"""The two axes of a memory map: steps across, in a band for each model, and addresses up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from usmp_build.frozen import frozen
from usmp_build.layout import StepRecord

LEFT, RIGHT, TOP, BOTTOM = 76.0, 1164.0, 34.0, 474.0
"""The frame of a map, in units of its picture."""

_NARROWEST = 72.0
"""Of a model's band, where there is room: a model of three steps is seen beside one of thousands."""
_GAP = 6.0
"""Between two models."""
_LINES = 7
"""Most lines of the grid, besides that at 0."""
_HEADROOM = 1.06
"""The height of a map against what is used, so that words fit above it."""
_LIMIT_IN_SIGHT = 1.5
"""A limit that is further above what is used is not drawn: the map would be flat."""


@frozen
class Band:
    """The steps of a model: half-open, and where they are across."""

    model: str
    start: int
    stop: int
    left: float
    right: float


@frozen
class Scale:
    """Turns steps and addresses into units of the picture."""

    bands: tuple[Band, ...]
    top: float
    """Bytes at the upper edge."""

    def across(self, step: int, *, is_stop: bool = False) -> float:
        """Return where a step begins; for the end of an interval, where the step before ends."""
        inside = step - 1 if is_stop else step
        band = next(band for band in self.bands if inside < band.stop)
        return band.left + (band.right - band.left) * (step - band.start) / (band.stop - band.start)

    def up(self, address: float) -> float:
        """Return the height of an address; pictures count from their upper edge."""
        return BOTTOM - (BOTTOM - TOP) * address / self.top


def bands(steps: Sequence[StepRecord]) -> tuple[Band, ...]:
    """Lay the models side by side: each as wide as it has steps, but none too narrow to be seen."""
    runs = [(model, sum(1 for _ in run)) for model, run in groupby(steps, lambda step: step.model)]
    room = RIGHT - LEFT - _GAP * (len(runs) - 1)
    least = min(_NARROWEST, room / max(1, 2 * len(runs)))
    result, start, left = [], 0, LEFT
    for model, count in runs:
        width = least + (room - least * len(runs)) * count / len(steps)
        result.append(Band(model, start, start + count, left, left + width))
        start, left = start + count, left + width + _GAP
    return tuple(result)


def height(used: int, limit: int | None) -> float:
    """Return the bytes at the upper edge of a map."""
    highest = limit if limit is not None and limit <= used * _LIMIT_IN_SIGHT else used
    return max(1, highest) * _HEADROOM


def grid(top: float) -> tuple[int, ...]:
    """Return the addresses of grid lines: multiples of a round number of bytes."""
    distance = 1
    while top / distance > _LINES:
        half_more = distance * 3 // 2
        distance = half_more if distance > 1 and top / half_more <= _LINES else distance * 2
    return tuple(range(0, int(top) + 1, distance))


def address(count: int, *, in_kib: bool) -> str:
    """Write an address beside the grid."""
    return f"{count / 1024:g} KiB" if in_kib and count else f"{count:,}"
