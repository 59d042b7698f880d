"""Pools as planned, and what all workspace pools take together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A pool as planned."""

    name: str
    access: str
    """"rw" or "ro"."""
    size: int
    """Bytes planned; for a constant pool with its padding at the end."""
    limit: int | None
    bound: int
    """No plan that puts these buffers here needs less: the largest of `claim` and the bytes alive at `peak_step`."""
    claim: int
    """Bytes that the search of the algorithm proved to be necessary; 0 where it proved nothing."""
    alignment: int
    section: str
    region: str
    load_region: str
    """Where the image holds it, if it is to be copied to `region`; else empty."""
    origin: int | None
    owner: str
    """"generated" or "application": who has the array."""
    cache_line: int
    """Bytes, where DMA transfers what the processor caches; else 0."""
    symbol: str
    """The C object of a workspace pool that the generated code has: `doorbell_dtcm_pool`."""
    macro: str
    """The prefix of its macros: `DOORBELL_DTCM`."""
    peak_step: str | None
    """The step at which `peak_bytes` bytes are alive; None when nothing is, or only because models run concurrently."""
    peak_bytes: int
    peak_buffers: tuple[str, ...]

    @property
    def gap(self) -> int:
        """Bytes above the bound."""
        return self.size - self.bound

    @property
    def is_passed(self) -> bool:
        """Whether the application has the array, and passes a pointer to it."""
        return self.owner == "application"

    @property
    def is_sealed(self) -> bool:
        """Whether it is a constant pool of the application: unless it is empty, it begins with a seal."""
        return self.is_passed and self.access == "ro"

    @property
    def base(self) -> str:
        """Where the pool begins, as C in the functions of a model."""
        if not self.is_passed:
            return self.symbol
        return f"{'workspace' if self.access == 'rw' else 'constants'}->{self.name}"


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """What all workspace pools take together, between what they would take without us and what nobody can save; bytes.

    Which pool a buffer is in is a choice of the plan, and the models as their files have them have other buffers: so
    these are figures of all pools together.  Each pool has its own `bound`.
    """

    max_live: int | None
    """Alive at one step where no model is rewritten, operators run in file order, and no two buffers that are alive
    together overlap; None where some model cannot be run without rewrites."""
    any_schedule: int
    """No plan needs less, whatever the order of operators and their directions, with the same buffers."""
    with_overlap: int
    """No plan of the chosen schedule with the same buffers in each pool needs less: the sum of the pools' bounds, or
    `any_schedule` where that is more.  With several pools it can be more than `max_live`."""
    achieved: int
    """The sum of the pools' sizes."""
    floor: int
    """Alive when a run begins or when it ends, whichever is more: inputs or outputs, and what outlives runs."""
    best_directions: bool
    """No directions make a better plan of the workspace, in this order of operators and others that were tried."""
    best_order: bool
    """Neither do they in any other order."""

    @property
    def gap(self) -> int:
        """Bytes above the bound."""
        return self.achieved - self.with_overlap
