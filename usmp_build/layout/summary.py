"""A plan for people: what the table, plan.json and every comment say."""

from __future__ import annotations

from dataclasses import dataclass


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
    symbol: str
    """The C object of a workspace pool: `doorbell_dtcm_pool`."""
    macro: str
    """The prefix of its macros: `DOORBELL_DTCM`."""
    peak_step: str
    """The step at which `peak_bytes` bytes are alive; empty when nothing is."""
    peak_bytes: int
    peak_buffers: tuple[str, ...]

    @property
    def gap(self) -> int:
        """Bytes above the bound."""
        return self.size - self.bound


@dataclass(frozen=True, slots=True)
class TrafficRow:
    """What one run of a model moves to and from one pool."""

    pool: str
    read: int
    written: int


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
    pools: tuple[tuple[PoolRow, int], ...]
    """Each pool it uses, and up to where."""
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
    """No plan is better: none costs less, and none that costs as little needs less.  Proven."""
    work: int
    """What the search of the algorithm looked at, in units that it explains."""
    pools: tuple[PoolRow, ...]
    buffers: tuple[BufferRow, ...]
    steps: tuple[str, ...]
    """The timeline: the name of every step."""
    models: tuple[ModelRow, ...]
