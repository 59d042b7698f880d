"""plan.json as values: the classes here are its published schema, for what writes it and for what reads it."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class PoolRecord(_Record):
    """A pool and how full it is."""

    name: str
    access: Literal["rw", "ro"]
    """rw: workspace pool; ro: constant pool."""
    size: int = Field(ge=0)
    """Bytes planned."""
    limit: int | None
    """Bytes that may be used; null: as many as needed."""
    bound: int
    """No plan that puts these buffers into this pool needs fewer bytes."""
    alignment: int = Field(ge=1)
    """Of the pool's base."""
    section: str
    """The section its object goes into."""
    region: str
    """The linker's memory region; empty: the linker script decides."""
    load_region: str
    """The region that holds it until start-up code copies it to `region`; empty: nothing is copied."""
    origin: int | None = Field(ge=0)
    """The address that the manifest says it has."""
    owner: Literal["generated", "application"]
    """Who has the array: the generated code, or the application, which passes pointers."""
    cache_line: int
    """Bytes of a cache line, where DMA transfers what the processor caches; else 0."""


class WorkspaceRecord(_Record):
    """What all workspace pools take together, in bytes."""

    max_live: int | None
    """Alive at one step of the models as their files have them: not rewritten, operators in file order, and nothing
    overlaps that is alive together.  null: a model cannot be run without rewrites."""
    any_schedule: int
    """No plan needs less, whatever the order of operators and their directions, with the same buffers; proven.  Where
    `achieved` is as little, no order and no directions are better."""
    with_overlap: int
    """No plan of the chosen schedule with the same buffers in each pool needs less: the sum of the pools' bounds, or
    `any_schedule` where that is more.  With several pools it can be more than `max_live`: they are fullest at different
    steps."""
    achieved: int
    """The sum of the pools' sizes."""
    floor: int
    """Alive when a run begins or when it ends, whichever is more: all inputs or all outputs, and what outlives runs."""
    best_directions: bool
    """No directions make a better plan of the workspace, in this order of operators and others that were tried; proven
    by search.  False where that is not known.  With several pools the better plan is the one whose buffers cost less,
    and of two that cost the same the one that takes fewer bytes in all: the cheaper one may take more."""
    best_order: bool
    """Neither do they in any other order of operators.  False where that is not known."""


class OverlapRecord(_Record):
    """Another buffer that shares bytes with one while both are alive."""

    buffer: str
    bytes: int
    operator: str
    """Which touches both: its kind, and its position in the model's file ("CONV_2D 5").  It has read these bytes of the
    one buffer, or needs them as scratch no more, before it writes them in the other."""
    direction: Literal["forward", "backward"]
    """From which end the operator goes through its output."""


class BufferRecord(_Record):
    """A buffer and its place."""

    name: str
    model: str
    """The model that uses it; the first one for a shared constant, the producer for a connection."""
    shared_with: tuple[str, ...]
    """Further models that read this constant or connection."""
    kind: Literal["input", "output", "connection", "intermediate", "scratch", "variable", "constant"]
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
    cache_line: int
    """Bytes of the cache lines that it shares with nothing, for DMA may touch it; 0: it may share them."""
    overlaps: tuple[OverlapRecord, ...]
    """Buffers that share bytes with it at a step at which both are alive."""


class TrafficRecord(_Record):
    """What the kernels of a model move to and from one pool in one run."""

    pool: str
    read: int
    """Bytes; what is read again counts again."""
    written: int
    """Bytes; exact for the reference kernels."""


class RewriteRecord(_Record):
    """What one rewrite removed from a model; less than 0 is what it added."""

    rewrite: str
    """Its name, as `rewrites` in the manifest has it."""
    operators: int
    """Those that run: not views."""
    channels: int
    """Indices along the last axis of tensors that are computed before and after."""
    weights: int
    """Elements of the filters and matrices of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED."""
    macs: int
    """Multiplications of these operators in one run; padding counts like pixels."""
    constant_bytes: int
    """Of constants that operators read; what kernels derive of them is not counted."""


class KeepRecord(_Record):
    """A word of a model that lets its inputs or outputs live longer than by default."""

    word: Literal["inputs", "outputs"]
    value: Literal["preserved", "reserved"]
    workspace: int | None
    """Bytes that it costs against the default; null: not worked out, which is done for the first 16 such words only."""


class OverridesRecord(_Record):
    """What a build system, or whoever ran the tool, said of a model: it went before the manifest.

    There are those members that were given.
    """

    path: Literal[True] | None = None
    """Where it is, which belongs to one machine and is not told."""
    workspace_pools: tuple[str, ...] | None = None
    constant_pools: tuple[str, ...] | None = None
    concurrent: tuple[str, ...] | None = None
    """Models that may run at the same time, beside those of the manifest."""

    @model_serializer(mode="wrap")
    def _given(self, serialize: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {name: value for name, value in serialize(self).items() if value is not None}


class ModelRecord(_Record):
    """A model and what it needs."""

    name: str
    workspace: int
    """Bytes of workspace that it would need alone, in the same pools."""
    shared: int
    """Bytes of the workspace pools that it uses and another model uses too."""
    constants: int
    """Bytes of its constants."""
    shared_constants: int
    """Of these, the bytes of those that another model reads, too."""
    state: int
    """Bytes of workspace that it keeps between runs: its variables."""
    traffic: tuple[TrafficRecord, ...]
    inputs: tuple[str, ...]
    """Their names in C."""
    outputs: tuple[str, ...]
    without_kernel: tuple[str, ...]
    """Operators that are planned but for which no C can be generated."""
    on_demand: tuple[str, ...]
    """Tensors that are not planned: the application provides their memory while the model runs."""
    rewrites: tuple[RewriteRecord, ...]
    """Those that changed something, in the order in which they were made."""
    order: tuple[int, ...]
    """Its operators, by position in the file, in the order in which they run; empty: in that of the file."""
    backward: tuple[int, ...]
    """Operators that go through their outputs from the last byte to the first."""
    keeps: tuple[KeepRecord, ...]
    """What it lets live longer than by default."""
    overrides: OverridesRecord
    """What went before the manifest."""
    extern_functions: tuple[str, ...]
    """C functions that the application must supply: its kernels call them, or as a program it does."""


class WitnessRecord(_Record):
    """Why a pool cannot be smaller: these buffers are alive together."""

    pool: str
    step: str | None
    """At which they all are; null: some are of models that may run at the same time."""
    buffers: tuple[str, ...]
    bytes: int


class ClaimRecord(_Record):
    """The algorithm's search proved that a pool with these buffers needs as many bytes."""

    pool: str
    bytes: int


class CostRecord(_Record):
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


class LargerRecord(_Record):
    """A pool that would have to be larger."""

    pool: str
    size: int
    """Bytes that it would need."""
    more: int
    """Bytes that its limit lacks."""


class WithoutLimitsRecord(_Record):
    """The plan without limits: what it would take to have every buffer where it costs least."""

    pools: tuple[LargerRecord, ...]
    saved: int
    """Of the cost, in its unit."""
    moved: int
    """Bytes read and written in one run of every model that would go to cheaper pools."""
    algorithm: str
    """That has every buffer there in pools of this size: the one of the manifest if it has, else auto."""


class ProofRecord(_Record):
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


class ConcurrencyRecord(_Record):
    """Models that may run at the same time, and what that costs."""

    pairs: tuple[tuple[str, str], ...]
    workspace: int
    """Bytes that all pairs together cost."""


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
    without_limits: WithoutLimitsRecord | None
    """null: every buffer is where it costs least."""
    pools: tuple[PoolRecord, ...]
    workspace: WorkspaceRecord
    models: tuple[ModelRecord, ...]
    concurrent: ConcurrencyRecord
    buffers: tuple[BufferRecord, ...]
    repeated_constants: int
    """Bytes of constants that equal ones stand for: what is saved because these are stored once."""
    steps: tuple[str, ...] = Field(description="The timeline: the name of every step, in order.")


def plan_schema() -> str:
    """Return the JSON schema of plan.json."""
    return json.dumps(PlanRecord.model_json_schema(), indent=2, sort_keys=True) + "\n"
