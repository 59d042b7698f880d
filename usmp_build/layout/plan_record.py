"""What plan.json holds: the classes here, and those that they name, are its published schema.

Emitters and tables see the same values in classes derived from these, which know more (`PoolRow` is a `PoolRecord`).
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Tag

from usmp_build.frozen import frozen
from usmp_build.layout.alternatives import AlternativesRecord
from usmp_build.layout.buffers import BufferRecord, RowsRecord
from usmp_build.layout.models import ModelRecord
from usmp_build.layout.pools import PoolRecord, WorkspaceRecord
from usmp_build.layout.record import Record


@frozen
class TargetRecord(Record):
    """A processor that runs operators."""

    name: str
    kernels: str
    """Its kernel library; after commas, those that rules give to some of its operators."""
    isa: Literal["portable", "scalar", "dsp", "mve"]
    """The instructions that kernels were chosen for."""


StepKind: TypeAlias = Literal["enter", "arrival", "move", "operator", "leave", "other"]


@frozen
class StepRecord(Record):
    """A step of the timeline: what happens in it from beginning to end."""

    model: str
    kind: StepKind
    """The application has filled the inputs (enter); a row of an input arrives; a row moves to the next of its places;
    an operator runs, or a row of it; the application reads the outputs (leave); anything else is a part of control
    flow, or a statement of a program."""
    operator: int | None
    """Its position in the file, or after all of these, as in `operators` of the model; null where none runs."""
    row: int | None
    """The row that the operator computes, or consumes if it adds up rows, or that arrives or moves; null where it is
    all."""
    text: str
    """The step for people, with the model's name."""
    buffer: str | None = None
    """The tensor in rows whose row moves, as in `buffers`; null where none does."""


@frozen
class CostRecord(Record):
    """What the plan costs in one run of every model, rounded down: the time that its traffic takes."""

    unit: Literal["bytes times rank", "cycles", "nanoseconds"]
    """Where no pool's speed is known: bytes moved, times the position of the pool among the buffer's candidates."""
    total: int
    bound: int
    """No placement costs less: proven."""
    by_rank: tuple[str, ...]
    """Pools whose speed is not known while that of others is: buffers that may be there are compared by rank."""


@frozen
class CostRow(CostRecord):
    """The same, and what the table says of it."""

    is_least: bool
    """No placement costs less, not even by a part of the unit."""
    ranked_buffers: int
    """Buffers that are compared by rank because the speed of one of their pools is not known."""


def _form(value: Any) -> str:
    """Return the tag of a record, whether it is made or still what a file holds."""
    return "rows" if isinstance(value, RowsRecord) or (isinstance(value, dict) and "offsets" in value) else "buffer"


AnyBuffer: TypeAlias = Annotated[
    Annotated[BufferRecord, Tag("buffer")] | Annotated[RowsRecord, Tag("rows")], Discriminator(_form)
]
"""A buffer, or all rows of a tensor."""


@frozen
class PlanRecord(Record):
    """A memory plan of usmp_build."""

    _: KW_ONLY
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
