"""What a plan costs: the time that its traffic takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from usmp_build.layout.record import Record


@dataclass(frozen=True, slots=True)
class CostRecord(Record):
    """What the plan costs in one run of every model, rounded down: the time that its traffic takes."""

    unit: Literal["bytes times rank", "cycles", "nanoseconds"]
    """Where no pool's speed is known: bytes moved, times the position of the pool among the buffer's candidates."""
    total: int
    bound: int
    """No placement costs less: proven."""
    by_rank: tuple[str, ...]
    """Pools whose speed is not known while that of others is: buffers that may be there are compared by rank."""


@dataclass(frozen=True, slots=True)
class CostRow(CostRecord):
    """The same, and what the table says of it."""

    is_least: bool
    """No placement costs less, not even by a part of the unit."""
    ranked_buffers: int
    """Buffers that are compared by rank because the speed of one of their pools is not known."""
