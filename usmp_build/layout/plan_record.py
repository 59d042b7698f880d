"""What plan.json holds: the classes here, and those that they name, are its published schema.

Emitters and tables see the same values in classes derived from these, which know more (`PoolRow` is a `PoolRecord`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Tag

from usmp_build.layout.alternatives import AlternativesRecord
from usmp_build.layout.buffers import BufferRecord, RowsRecord
from usmp_build.layout.costs import CostRecord
from usmp_build.layout.models import ModelRecord
from usmp_build.layout.pools import PoolRecord, WorkspaceRecord
from usmp_build.layout.record import Record
from usmp_build.layout.steps import StepRecord
from usmp_build.layout.targets import TargetRecord


def _form(value: Any) -> str:
    """Return the tag of a record, whether it is made or still what a file holds."""
    return "rows" if isinstance(value, RowsRecord) or (isinstance(value, dict) and "offsets" in value) else "buffer"


AnyBuffer: TypeAlias = Annotated[
    Annotated[BufferRecord, Tag("buffer")] | Annotated[RowsRecord, Tag("rows")], Discriminator(_form)
]
"""A buffer, or all rows of a tensor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRecord(Record):
    """A memory plan of usmp_build."""

    version: Literal[3] = 3
    """Of this format."""
    generator: str
    project: str
    manifest: str
    algorithm: str
    """Which algorithm found the plan.  Every pair in conflict, every limit and every alignment was checked by code that
    the algorithms do not share."""
    cost: CostRecord
    targets: tuple[TargetRecord, ...]
    pools: tuple[PoolRecord, ...]
    workspace: WorkspaceRecord
    models: tuple[ModelRecord, ...]
    concurrent: tuple[tuple[str, str], ...]
    """Pairs of models that may run at the same time."""
    buffers: tuple[AnyBuffer, ...]
    repeated_constants: int
    """Bytes of constants that equal ones stand for: what is saved because these are stored once."""
    steps: tuple[StepRecord, ...]
    """The timeline: every step, in order."""
    alternatives: AlternativesRecord | None = None
    """What `plan --json` adds; null in the generated file, because no build needs it."""
