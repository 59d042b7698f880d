"""Pools as planned, and what all workspace pools take together."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from pydantic import Field

from usmp_build.frozen import frozen
from usmp_build.layout.record import Record


@frozen
class CertificateRecord(Record):
    """Why a pool cannot be smaller than its bound: these buffers are alive together.

    They need as many bytes even where they overlap as far as kernels let them.
    """

    step: str | None
    """At which they all are; null: some are of models that may run at the same time."""
    buffers: tuple[str, ...]


_CANARY = 16
"""Bytes of a canary; that before a pool is a multiple of the pool's alignment, too."""


@frozen
class PoolRecord(Record):
    """A pool and how full it is."""

    name: str
    access: Literal["rw", "ro"]
    """rw: workspace pool; ro: constant pool."""
    size: Annotated[int, Field(ge=0)]
    """The peak: bytes that the plan uses, for a constant pool with its padding at the end."""
    limit: int | None
    """Bytes that may be used: the manifest's `size` less `reserve`; null: as many as needed."""
    budget: int | None = field(default=None, kw_only=True)
    """Bytes from which on the manifest wants a warning; null: it wants none."""
    bound: int
    """No plan that puts these buffers into this pool needs fewer bytes: proven."""
    certificate: CertificateRecord | None
    """Buffers that show it.  null: a search of the algorithm proved it; and for constant pools, whose bound is the sum
    of all that is in them."""
    alignment: Annotated[int, Field(ge=1)]
    """Of the pool's base."""
    section: str
    """The section its object goes into."""
    region: str
    """The linker's memory region; empty: the linker script decides."""
    load_region: str
    """The region that holds it until start-up code copies it to `region`; empty: nothing is copied."""
    origin: Annotated[int | None, Field(ge=0)]
    """The address that the manifest says it has."""
    owner: Literal["generated", "application"]
    """Who has the array: the generated code, or the application, which passes pointers."""
    cache_line: int
    """Bytes of a cache line, where DMA transfers what the processor caches; else 0."""

    @property
    def is_workspace(self) -> bool:
        """Whether inference writes to it; else it holds constants."""
        return self.access == "rw"

    @property
    def canaries(self) -> tuple[int, int]:
        """Bytes that the generated code adds before and after the pool if it is compiled with USMP_CANARIES.

        None where the array is not in the generated code, or where the limit of the pool leaves no room.
        """
        before, after = max(_CANARY, self.alignment), _CANARY
        has_room = self.limit is None or self.size + before + after <= self.limit
        is_generated = self.is_workspace and self.owner == "generated" and self.size > 0
        return (before, after) if is_generated and has_room else (0, 0)


@frozen
class PoolRow(PoolRecord):
    """A pool as planned: its record, and what only the generated code and messages need."""

    symbol: str
    """The C object of a workspace pool that the generated code has: `doorbell_dtcm_pool`."""
    macro: str
    """The prefix of its macros: `DOORBELL_DTCM`."""

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
        return self.is_passed and not self.is_workspace

    @property
    def base(self) -> str:
        """Where the pool begins, as C in the functions of a model."""
        if not self.is_passed:
            return self.symbol
        return f"{'workspace' if self.is_workspace else 'constants'}->{self.name}"


@frozen
class WorkspaceRecord(Record):
    """What all workspace pools take together, in bytes."""

    any_schedule: int
    """No plan needs less, whatever the order of operators and their directions, with the same buffers; proven.  Where
    `achieved` is as little, no order and no directions are better."""
    with_overlap: int
    """No plan of the chosen schedule with the same buffers in each pool needs less: the sum of the pools' bounds, or
    `any_schedule` where that is more.  With several pools it can be more than the bytes that are ever alive together:
    they are fullest at different steps."""
    achieved: int
    """The sum of the pools' sizes."""
    floor: int
    """Alive when a run begins or when it ends, whichever is more: all inputs or all outputs, and what outlives runs."""
    proven: Literal["every order", "this order", "this schedule", "nothing"]
    """No plan with the same buffers is better, proven: in whatever order operators run, and in whatever directions; in
    this order of operators and others that were tried, in whatever directions; or in this order and these directions.
    With several pools the better plan is the one whose buffers cost less, and of two that cost the same the one that
    takes fewer bytes in all: the cheaper one may take more."""

    @property
    def gap(self) -> int:
        """Bytes above the bound."""
        return self.achieved - self.with_overlap
