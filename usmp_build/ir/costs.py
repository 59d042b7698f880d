"""What it costs a buffer to be in a pool, and in which unit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Literal


class CostUnit(Enum):
    """What costs count."""

    RANK = "bytes times rank", 1
    """Bytes moved, times the position of the pool among the buffer's candidates: nothing is known of speed."""
    CYCLES = "cycles", 1
    """Of memories that all have the same clock, as far as the manifest says."""
    SECONDS = "nanoseconds", 10**9

    def __init__(self, shown: Literal["bytes times rank", "cycles", "nanoseconds"], factor: int) -> None:
        """Set the unit that people see, and how many of these make one."""
        self.shown: Literal["bytes times rank", "cycles", "nanoseconds"] = shown
        self.factor = factor


@dataclass(frozen=True)
class Costs:
    """For each buffer of the storage, the cost of each of its candidate pools, as whole numbers."""

    values: tuple[tuple[int, ...], ...]
    unit: CostUnit
    scale: Fraction
    """A cost of `scale` is one of `unit`."""
    unknown: tuple[int, ...] = ()
    """Pools whose speed is not known, among the candidates of buffers that are compared by rank for that reason:
    where others have a speed, or where the manifest says something of it, but no bandwidth."""
    ranked: int = 0
    """How many buffers that are."""

    def of(self, cost: int) -> Fraction:
        """Return a sum of costs in the unit."""
        return cost / self.scale

    def shown(self, cost: int) -> Fraction:
        """Return a sum of costs in the unit that people see."""
        return self.of(cost) * self.unit.factor
