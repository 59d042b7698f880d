"""plan.json: the plan for other programs.  The classes here are its published schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from usmp_build.bundle import OutputFile
from usmp_build.json_lines import json_lines
from usmp_build.layout import BufferRow, Layout, ModelRow, PoolRow, Summary


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class PoolRecord(_Record):
    """A pool and how full it is."""

    name: str
    access: Literal["rw", "ro"]
    """rw: workspace pool; ro: constant pool."""
    size: int
    """Bytes planned."""
    limit: int | None
    """Bytes that may be used; null: as many as needed."""
    bound: int
    """No plan that puts these buffers into this pool needs fewer bytes."""
    alignment: int
    """Of the pool's base."""
    section: str
    """The section its object goes into."""
    region: str
    """The linker's memory region; empty: the linker script decides."""
    load_region: str
    """The region whose image start-up code copies to `region`; empty: nothing is copied."""
    origin: int | None
    """The address that the manifest says it has."""


class BufferRecord(_Record):
    """A buffer and its place."""

    name: str
    model: str
    """The model that uses it; the first one for a shared constant."""
    shared_with: tuple[str, ...]
    """Further models that read this constant."""
    kind: Literal["input", "output", "intermediate", "scratch", "variable", "constant"]
    pool: str
    offset: int
    size: int
    alignment: int
    intervals: tuple[tuple[int, int], ...]
    """Half-open steps [start, stop) in which it holds data, on the timeline `steps`."""
    read: int
    """Bytes that kernels read of it in one run of each of its models; what is read again counts again."""
    written: int
    """Bytes that kernels write to it in one run of each of its models."""
    reason: str
    """Why it exists."""


class TrafficRecord(_Record):
    """What the kernels of a model move to and from one pool in one run."""

    pool: str
    read: int
    """Bytes; what is read again counts again."""
    written: int
    """Bytes; exact for the reference kernels."""


class ModelRecord(_Record):
    """A model and what it needs."""

    name: str
    workspace: int
    """Bytes of workspace that it would need alone, in the same pools."""
    shared: int
    """Bytes of the workspace pools that it uses and another model uses too."""
    constants: int
    """Bytes of its constants."""
    traffic: tuple[TrafficRecord, ...]
    inputs: tuple[str, ...]
    """Their names in C."""
    outputs: tuple[str, ...]
    without_kernel: tuple[str, ...]
    """Operators that are planned but for which no C can be generated."""
    on_demand: tuple[str, ...]
    """Tensors that are not planned: the application provides their memory while the model runs."""
    extern_functions: tuple[str, ...]
    """C functions that the application must supply: its kernels call them, or as a program it does."""


class WitnessRecord(_Record):
    """Why a pool cannot be smaller: these buffers are alive together."""

    pool: str
    step: str
    buffers: tuple[str, ...]
    bytes: int


class ClaimRecord(_Record):
    """The algorithm's search proved that a pool with these buffers needs as many bytes."""

    pool: str
    bytes: int


class ProofRecord(_Record):
    """What is known of the plan beside that it is sound."""

    verified: Literal[True]
    """Every pair in conflict, every limit and every alignment was checked by code that the algorithms do not share."""
    optimal: bool
    """Every pool is as small as its bound."""
    best: bool
    """No plan is better: none costs less, and none that costs as little has lower peaks."""
    work: int
    """What the search looked at, in units that the algorithm explains; the same on every machine."""
    claims: tuple[ClaimRecord, ...]
    """Where they say more than the witnesses."""
    witnesses: tuple[WitnessRecord, ...]
    """For workspace pools; the bound of a constant pool is the sum of all that is in it."""


class PlanRecord(_Record):
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
    models: tuple[ModelRecord, ...]
    buffers: tuple[BufferRecord, ...]
    steps: tuple[str, ...] = Field(description="The timeline: the name of every step, in order.")


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield plan.json."""
    yield OutputFile("plan.json", plan_json(layout.summary))


def plan_json(summary: Summary) -> str:
    """Return the text of plan.json, one buffer a line: it is read by people, and compared, too."""
    record = PlanRecord(
        generator=f"usmp_build {summary.version}",
        project=summary.project,
        manifest=summary.manifest,
        algorithm=summary.algorithm,
        proof=_proof(summary),
        pools=tuple(map(_pool, summary.pools)),
        models=tuple(map(_model, summary.models)),
        buffers=tuple(map(_buffer, summary.buffers)),
        steps=summary.steps,
    )
    return json_lines(record.model_dump(mode="json"))


def plan_schema() -> str:
    """Return the JSON schema of plan.json."""
    return json.dumps(PlanRecord.model_json_schema(), indent=2, sort_keys=True) + "\n"


def _proof(summary: Summary) -> ProofRecord:
    witnesses = tuple(
        WitnessRecord(pool=pool.name, step=pool.peak_step, buffers=pool.peak_buffers, bytes=pool.peak_bytes)
        for pool in summary.pools
        if pool.peak_buffers and pool.access == "rw"
    )
    claims = tuple(
        ClaimRecord(pool=pool.name, bytes=pool.claim) for pool in summary.pools if pool.claim > pool.peak_bytes
    )
    return ProofRecord(
        verified=True,
        optimal=summary.optimal,
        best=summary.best,
        work=summary.work,
        claims=claims,
        witnesses=witnesses,
    )


def _pool(row: PoolRow) -> PoolRecord:
    names = PoolRecord.model_fields
    return PoolRecord(**{name: getattr(row, name) for name in names})


def _model(row: ModelRow) -> ModelRecord:
    traffic = tuple(TrafficRecord(pool=each.pool, read=each.read, written=each.written) for each in row.traffic)
    own = {name: getattr(row, name) for name in ModelRecord.model_fields if name != "traffic"}
    return ModelRecord(traffic=traffic, **own)


def _buffer(row: BufferRow) -> BufferRecord:
    own = {name: getattr(row, name) for name in BufferRecord.model_fields if name not in {"model", "shared_with"}}
    return BufferRecord(model=row.models[0], shared_with=row.models[1:], **own)
