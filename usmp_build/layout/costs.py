"""What a plan costs: time on the memory, and bytes for data that outlive runs and for models that run at once."""

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
    least: bool
    """No placement costs less than this one."""
    by_rank: tuple[str, ...]
    """Pools whose speed is not known while that of others is: buffers that may be there are compared by rank."""


@dataclass(frozen=True, slots=True)
class LargerRecord(Record):
    """A pool that would have to be larger."""

    pool: str
    size: int
    """Bytes that it would need."""
    more: int
    """Bytes that its limit lacks."""


@dataclass(frozen=True, slots=True)
class WithoutLimitsRecord(Record):
    """The plan without limits: what it would take to have every buffer where it costs least."""

    pools: tuple[LargerRecord, ...]
    saved: int
    """Of the cost, in its unit."""
    moved: int
    """Bytes read and written in one run of every model that would go to cheaper pools."""
    algorithm: str
    """That has every buffer there in pools of this size: the one of the manifest if it has, else auto."""


@dataclass(frozen=True, slots=True)
class KeepRecord(Record):
    """A word of a model that lets its inputs or outputs live longer than by default."""

    word: Literal["inputs", "outputs"]
    value: Literal["preserved", "reserved"]
    workspace: int | None
    """Bytes that it costs against the default; null: not worked out, which is done for the first 16 such words only."""


@dataclass(frozen=True, slots=True)
class ConcurrencyRecord(Record):
    """Models that may run at the same time, and what that costs."""

    pairs: tuple[tuple[str, str], ...]
    workspace: int
    """Bytes that all pairs together cost."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """What it costs that data outlive runs, and that models run at the same time."""

    models: tuple[tuple[KeepRecord, ...], ...]
    """The words of each model."""
    concurrent: tuple[tuple[str, str], ...]
    """Pairs of models, by name."""
    concurrent_workspace: int
    """Bytes of workspace that all pairs together cost."""
