"""What a plan is compared with: the same models by themselves, in larger pools, with default settings."""

from __future__ import annotations

from typing import Literal

from usmp_build.frozen import frozen
from usmp_build.layout.record import Record


@frozen
class LargerRecord(Record):
    """A pool that would have to be larger."""

    pool: str
    size: int
    """Bytes that it would need."""
    more: int
    """Bytes that its limit lacks."""


@frozen
class LargerPoolsRecord(Record):
    """A plan in larger pools, with every buffer where it costs least."""

    pools: tuple[LargerRecord, ...]
    saved: int
    """Of the plan's cost, in its unit."""
    moved: int
    """Bytes read and written in one run of every model that would go to cheaper pools."""
    algorithm: str
    """That has every buffer there in pools of this size: the one of the manifest if it has, else auto."""


@frozen
class KeepRecord(Record):
    """A setting of a model that lets its inputs or outputs live longer than by default."""

    key: Literal["inputs", "outputs"]
    value: Literal["preserved", "reserved"]
    workspace: int | None
    """Bytes that it costs against the default; null: not worked out, only the first 16 such settings are."""


@frozen
class CompilerPlanRecord(Record):
    """What the compiler of a program would allocate itself, without inputs and outputs."""

    compiler: str
    tensors: int
    """Bytes of main's tensors."""
    functions: int
    """Bytes in the function that allocates most."""


@frozen
class ModelAlternativesRecord(Record):
    """A model by itself, and what its settings cost."""

    name: str
    workspace: int
    """Bytes of workspace that it would need alone, in the same pools."""
    keeps: tuple[KeepRecord, ...]
    """What it lets live longer than by default."""
    compiler_plan: CompilerPlanRecord | None
    """null: it is no program, or its compiler has no plan."""


@frozen
class AlternativesRecord(Record):
    """What the firmware would take otherwise; each figure takes planning of its own."""

    max_live: int | None
    """Bytes of workspace alive at one step of the models as their files have them: not rewritten, operators in file
    order, and nothing overlaps that is alive together.  null: a model cannot be run without rewrites."""
    models: tuple[ModelAlternativesRecord, ...]
    concurrent_workspace: int
    """Bytes of workspace that all pairs of models that may run at the same time cost together."""
    larger_pools: LargerPoolsRecord | None
    """null: every buffer is where it costs least, or larger pools save nothing."""
