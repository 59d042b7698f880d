"""A plan for people: what the table, plan.json and every comment say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from usmp_build.units import align_up


@dataclass(frozen=True, slots=True)
class OverlapRow:
    """Another buffer that shares bytes with one while both are alive."""

    buffer: str
    bytes: int
    operator: str
    """Which touches both, and has read these bytes of the one before it writes them in the other: "CONV_2D 5"."""
    direction: str
    """"forward" or "backward": from which end it goes through its output."""
    is_lower: bool
    """Whether `separation` is that of the one below the other: both may begin at the same byte."""
    separation: int
    """Bytes, at least, from the start of the lower one to that of the other; 0 or less where that may begin first."""
    distance: int
    """The same, as planned."""


@dataclass(frozen=True, slots=True)
class BufferRow:
    """A planned buffer, for tables and for plan.json."""

    name: str
    kind: str
    models: tuple[str, ...]
    pool: str
    offset: int
    size: int
    alignment: int
    intervals: tuple[tuple[int, int], ...]
    read: int
    """Bytes, in one run of each of its models."""
    written: int
    reason: str
    scope: str
    """Who restricts the pools that it may be in; empty when nobody does."""
    kept: tuple[str, ...]
    """What keeps its data longer than its use in one run, in a few words each."""
    cache_line: int
    """Bytes of the cache lines that it shares with nothing, for DMA may touch it; 0: it may share them."""
    overlaps: tuple[OverlapRow, ...] = ()

    @property
    def end(self) -> int:
        """The first byte behind what is its own: behind its last byte, or behind its last cache line."""
        return self.offset + align_up(self.size, self.cache_line or 1)


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

    @property
    def gap(self) -> int:
        """Bytes above the bound."""
        return self.achieved - self.with_overlap


@dataclass(frozen=True, slots=True)
class TrafficRow:
    """What one run of a model moves to and from one pool."""

    pool: str
    read: int
    written: int


@dataclass(frozen=True, slots=True)
class RewriteRow:
    """What one rewrite removed from a model; less than 0 is what it added."""

    rewrite: str
    operators: int
    channels: int
    weights: int
    macs: int
    constant_bytes: int


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


@dataclass(frozen=True, slots=True)
class CostRow:
    """What a plan costs in one run of every model; rounded down."""

    unit: str
    """"bytes times rank", "cycles" or "nanoseconds"."""
    total: int
    bound: int
    """No placement costs less: proven."""
    least: bool
    """No placement costs less than this one."""
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
    algorithm: str | None
    """That has every buffer there in pools of this size, the one of the manifest if it has; None: that is not known."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model as planned."""

    name: str
    macro: str
    workspace: int
    """Bytes of workspace that it would need alone, in the same pools."""
    shared: int
    """Bytes of the workspace pools that it uses and another model uses too."""
    constants: int
    """Bytes of its constants, shared ones too."""
    shared_constants: int
    """Of these, the bytes of those that another model reads, too."""
    state: int
    """Bytes of workspace that it keeps between runs: its variables."""
    pools: tuple[tuple[PoolRow, int], ...]
    """Each pool it uses, and how much of it: up to where; of constants their bytes, or all where they are passed."""
    traffic: tuple[TrafficRow, ...]
    without_kernel: tuple[str, ...]
    """Operators that are planned but cannot be generated, with the reason."""
    extern_functions: tuple[str, ...]
    """The functions in C that it calls and that the application must supply, by name."""
    on_demand: tuple[str, ...]
    """Tensors of functions for which the application provides memory while they run."""
    declared_in: str
    """The header that declares them."""
    application_io: bool
    """Whether inputs and outputs are the caller's arrays."""
    inputs: tuple[str, ...]
    """Their names in C."""
    outputs: tuple[str, ...]
    rewrites: tuple[RewriteRow, ...]
    """Those that changed something, in their order."""
    order: tuple[int, ...]
    """The operators of its main subgraph that run, by position in the file, in the order in which they do; empty where
    that is the order of the file."""
    backward: tuple[int, ...]
    """Those that go through their outputs from the last byte to the first."""
    keeps: tuple[KeepRow, ...]
    overrides: Mapping[str, tuple[str, ...]]
    """Words that whoever runs the tool gave, and not the manifest, with the names that they list; a path lists none."""

    @property
    def passed_workspaces(self) -> tuple[PoolRow, ...]:
        """Those of the application."""
        return tuple(pool for pool, _ in self.pools if pool.is_passed and pool.access == "rw")

    @property
    def own_workspaces(self) -> tuple[PoolRow, ...]:
        """Those of the generated code, of which there is one: they let nobody run the model several times at once."""
        return tuple(pool for pool, _ in self.pools if not pool.is_passed and pool.access == "rw")

    @property
    def passed_constants(self) -> tuple[PoolRow, ...]:
        """Those of the application."""
        return tuple(pool for pool, _ in self.pools if pool.is_sealed)

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """What `run` takes a pointer to: (the struct's name behind that of the model, the parameter's name)."""
        ports = (("inputs", "inputs"), ("outputs", "outputs")) if self.application_io else ()
        return (*ports, *self.pool_parameters)

    @property
    def map_parameters(self) -> tuple[tuple[str, str], ...]:
        """Those of them that say where inputs and outputs are."""
        return (("workspace_pools", "workspace"),) if self.passed_workspaces else ()

    @property
    def pool_parameters(self) -> tuple[tuple[str, str], ...]:
        """Those of them that are pools of the application."""
        return (*self.map_parameters, *((("constant_pools", "constants"),) if self.passed_constants else ()))


@dataclass(frozen=True, slots=True)
class Summary:
    """A plan, ready for people: what the table, plan.json and every comment say."""

    project: str
    macro: str
    version: str
    """Of usmp_build."""
    manifest: str
    algorithm: str
    optimal: bool
    """Every pool is at its bound."""
    best: bool
    """No plan in these pools is better: none costs less, and none that costs as little needs less.  Proven."""
    work: int
    """What the search of the algorithm looked at, in units that it explains."""
    pools: tuple[PoolRow, ...]
    workspace: WorkspaceRow
    buffers: tuple[BufferRow, ...]
    repeated_constants: int
    """Bytes of constants that are stored once for several tensors, counted once less than these are."""
    steps: tuple[str, ...]
    """The timeline: the name of every step."""
    models: tuple[ModelRow, ...]
    concurrent: tuple[tuple[str, str], ...]
    """Models that may run at the same time, by name."""
    concurrent_workspace: int
    """Bytes of workspace that this costs."""
    cost: CostRow
    without_limits: WithoutLimitsRow | None
    """None where every buffer is where it costs least."""

    @property
    def most_workspaces(self) -> int:
        """The most workspace pools that one model uses."""
        return max((sum(pool.access == "rw" for pool, _ in model.pools) for model in self.models), default=0)

    def moved(self, pool: str) -> tuple[int, int]:
        """Return the bytes read and written of a pool in one run of every model."""
        rows = [row for model in self.models for row in model.traffic if row.pool == pool]
        return sum(row.read for row in rows), sum(row.written for row in rows)
