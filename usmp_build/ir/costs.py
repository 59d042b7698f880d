"""Costs of buffers in their candidate pools, and the unit of these costs."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import Literal

from usmp_build.frozen import frozen


class CostUnit(Enum):
    """The unit of costs."""

    RANK = "bytes times rank", 1
    """Bytes moved, times the position of the pool among the buffer's candidates: speeds are unknown."""
    CYCLES = "cycles", 1
    """Clock cycles: the manifest gives speeds without clocks."""
    SECONDS = "nanoseconds", 10**9

    def __init__(self, label: Literal["bytes times rank", "cycles", "nanoseconds"], factor: int) -> None:
        """Set the unit shown in reports, and its number per unit of cost."""
        self.label: Literal["bytes times rank", "cycles", "nanoseconds"] = label
        self.factor = factor


@frozen
class Costs:
    """For each buffer of the storage, the cost of each of its candidate pools, as whole numbers."""

    values: tuple[tuple[int, ...], ...]
    unit: CostUnit
    scale: Fraction
    """A cost of `scale` equals 1 `unit`."""
    unknown: tuple[int, ...] = ()
    """Candidate pools of unknown speed that force buffers to be compared by rank, although other pools have a speed, or
    the manifest gives one without a bandwidth."""
    ranked: int = 0
    """Number of these buffers."""

    def of(self, cost: int) -> Fraction:
        """Return a sum of costs in the unit."""
        return cost / self.scale

    def in_reports(self, cost: int) -> Fraction:
        """Return a sum of costs in the unit shown in reports."""
        return self.of(cost) * self.unit.factor
