"""What a plan costs: time on the memory, and bytes for data that outlive runs and for models that run at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CostRow:
    """What a plan costs in one run of every model; rounded down."""

    unit: str
    """"bytes times rank", "cycles" or "nanoseconds"."""
    total: int
    bound: int
    """No placement of this schedule costs less: proven."""
    least: bool
    """No placement of this schedule costs less than this one."""
    by_rank: tuple[str, ...]
    """Pools whose speed is not known, while that of others is."""
    ranked: int
    """How many buffers are compared by rank for that reason."""


@dataclass(frozen=True, slots=True)
class LargerRow:
    """A pool that would have to be larger."""

    pool: str
    size: int
    """Bytes that it would need."""
    more: int
    """Bytes that its limit lacks."""


@dataclass(frozen=True, slots=True)
class WithoutLimitsRow:
    """The plan without limits: what it would take to have every buffer where it costs least."""

    pools: tuple[LargerRow, ...]
    saved: int
    """Of the cost, in its unit."""
    moved: int
    """Bytes read and written in one run of every model that would go to cheaper pools."""
    algorithm: str
    """That has every buffer there in pools of this size: the one of the manifest if it has, else "auto"."""


@dataclass(frozen=True, slots=True)
class KeepRow:
    """A word of a model that lets inputs or outputs outlive what they need not."""

    word: str
    """"inputs" or "outputs"."""
    value: str
    """"preserved" or "reserved"."""
    workspace: int | None
    """Bytes that it costs against the default; None: not worked out, for there are many such words."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """What it costs that data outlive runs, and that models run at the same time."""

    models: tuple[tuple[KeepRow, ...], ...]
    """The words of each model."""
    concurrent: tuple[tuple[str, str], ...]
    """Pairs of models, by name."""
    concurrent_workspace: int
    """Bytes of workspace that all pairs together cost."""
