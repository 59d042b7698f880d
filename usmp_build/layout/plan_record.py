"""What plan.json holds: the classes here, and those that they name, are its published schema.

Emitters and tables see the same values in classes derived of these, which know more (`PoolRow` is a `PoolRecord`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from usmp_build.layout.alternatives import AlternativesRecord
from usmp_build.layout.buffers import BufferRecord
from usmp_build.layout.costs import CostRecord
from usmp_build.layout.models import ModelRecord
from usmp_build.layout.pools import PoolRecord, WorkspaceRecord
from usmp_build.layout.record import Record


@dataclass(frozen=True, slots=True)
class WitnessRecord(Record):
    """Why a pool cannot be smaller: these buffers are alive together."""

    pool: str
    step: str | None
    """At which they all are; null: some are of models that may run at the same time."""
    buffers: tuple[str, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class ClaimRecord(Record):
    """The algorithm's search proved that a pool with these buffers needs as many bytes."""

    pool: str
    bytes: int


@dataclass(frozen=True, slots=True)
class ProofRecord(Record):
    """What is known of the plan beside that it is sound."""

    verified: Literal[True]
    """Every pair in conflict, every limit and every alignment was checked by code that the algorithms do not share."""
    optimal: bool
    """Every pool is as small as its bound."""
    best: bool
    """No plan in these pools is better: none costs less, and none that costs as little has a smaller sum of peaks."""
    cost: CostRecord
    work: int
    """What the search looked at, in units that the algorithm explains; the same on every machine."""
    claims: tuple[ClaimRecord, ...]
    """Where they say more than the witnesses."""
    witnesses: tuple[WitnessRecord, ...]
    """For workspace pools; the bound of a constant pool is the sum of all that is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRecord(Record):
    """A memory plan of usmp_build."""

    version: Literal[1] = 1
    """Of this format."""
    generator: str
    project: str
    manifest: str
    algorithm: str
    """Which algorithm found the plan."""
    proof: ProofRecord
    pools: tuple[PoolRecord, ...]
    workspace: WorkspaceRecord
    models: tuple[ModelRecord, ...]
    concurrent: tuple[tuple[str, str], ...]
    """Pairs of models that may run at the same time."""
    buffers: tuple[BufferRecord, ...]
    repeated_constants: int
    """Bytes of constants that equal ones stand for: what is saved because these are stored once."""
    steps: tuple[str, ...]
    """The timeline: the name of every step, in order."""
    alternatives: AlternativesRecord | None = None
    """What `plan --json` adds; null in the file that is generated, for nobody builds with it."""
