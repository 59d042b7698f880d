"""Models as planned."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from usmp_build.frozen import frozen
from usmp_build.layout.pools import PoolRow
from usmp_build.layout.record import Record


@frozen
class TrafficRecord(Record):
    """What the kernels of a model, and moves of its rows, move to and from one pool in one run."""

    pool: str
    read: int
    """Bytes; what is read again counts again."""
    written: int
    """Bytes; exact for the reference kernels."""


@frozen
class RewriteRecord(Record):
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


@frozen
class OverridesRecord(Record):
    """Settings of a model from the command line or a build system, which override the manifest.

    Only those that were given are written.
    """

    path: Literal[True] | None = None
    """That the file was given; its path belongs to one machine and is not written."""
    workspace_pools: tuple[str, ...] | None = None
    constant_pools: tuple[str, ...] | None = None
    concurrent: tuple[str, ...] | None = None
    """Models that may run at the same time, besides those of the manifest."""

    @property
    def given(self) -> dict[str, Literal[True] | tuple[str, ...]]:
        """Those members that were given, by name."""
        members: dict[str, Literal[True] | tuple[str, ...] | None] = {
            "path": self.path,
            "workspace_pools": self.workspace_pools,
            "constant_pools": self.constant_pools,
            "concurrent": self.concurrent,
        }
        return {name: value for name, value in members.items() if value is not None}


@frozen
class TensorRecord(Record):
    """Where a tensor of the main subgraph is."""

    tensor: int
    """Its index in the model file; those of copies, which the file does not have, come after its last one."""
    buffer: str
    """The buffer, or tensor in rows, that holds it; empty: it is in the caller's array."""
    offset: int
    """Bytes from the start of that."""
    pitch: int
    """Bytes from one pixel to the next, where it is some channels of another tensor; 0: they are contiguous."""
    channels: tuple[int, ...]
    """The indices along its last axis that are left, where constant channels were removed; empty: all."""
    axes: tuple[int, ...]
    """For each of its axes, which one it is in the model file, where they have another order; empty: as there."""
    strip_of: int | None = field(default=None, kw_only=True)
    """The tensor of the file of which it has some columns; null: it has all of them."""
    columns: tuple[int, ...] = field(default=(), kw_only=True)
    """Of a strip, its first column there, and the column after its last one; else empty."""


@frozen
class OperatorRecord(Record):
    """An operator of the main subgraph, as it runs after rewriting."""

    operator: int
    """Its position in the file; those of copies come after its last one."""
    reads: tuple[int, ...]
    """Tensors, by index, without constants."""
    writes: tuple[int, ...]
    scratch: tuple[str, ...]
    """Its scratch buffers."""
    strip_of: int | None = field(default=None, kw_only=True)
    """The operator of the file that it is, for a strip of columns; null: it is that of its own position."""


@frozen
class StripsRecord(Record):
    """Successive operators that run once for each strip of columns."""

    first: int
    """By position in the file."""
    last: int
    strips: int


@frozen
class ModelRecord(Record):
    """A model and what it needs."""

    name: str
    sha256: str = field(default="", kw_only=True)
    """Of the model file, in hexadecimal; empty for models that are no .tflite file."""
    tensors: tuple[TensorRecord, ...] = field(default=(), kw_only=True)
    """Those of the main subgraph that operators read and write, without constants; with `operators`, all that is needed
    to check the plan against the model file."""
    operators: tuple[OperatorRecord, ...] = field(default=(), kw_only=True)
    """Those of the main subgraph that run, in the order of the file."""
    budget: int | None = field(default=None, kw_only=True)
    """Bytes of workspace that the manifest wants it to need alone; null: as many as needed."""
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
    inputs_by_rows: tuple[str, ...]
    """Of the inputs, the one that arrives row by row."""
    outputs_by_rows: tuple[str, ...]
    """Of the outputs, the one that leaves row by row."""
    without_kernel: tuple[str, ...]
    """Operators that are planned but for which no C can be generated."""
    declined: tuple[str, ...]
    """Operators that have no kernel for the instructions of their target, and why."""
    on_demand: tuple[str, ...]
    """Tensors that are not planned: the application provides their memory while the model runs."""
    rewrites: tuple[RewriteRecord, ...]
    """Those that changed something, in the order in which they were made."""
    order: tuple[int, ...]
    """Its operators, by position in the file, in the order in which they run; empty: in that of the file."""
    backward: tuple[int, ...]
    """Operators that go through their outputs from the last byte to the first."""
    by_rows: tuple[int, ...]
    """Operators that run row by row: in `order`, they are there once for each row."""
    strips: tuple[StripsRecord, ...] = field(default=(), kw_only=True)
    """Stages that run once for each strip of columns."""
    recomputed_macs: int
    """Multiplications of columns of strips that are computed again, in one run; `macs` are all others."""
    macs: int
    """Multiplications of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED in one run; padding counts like pixels."""
    overrides: OverridesRecord
    """Settings that override the manifest."""
    extern_functions: tuple[str, ...]
    """C functions that the application must supply: its kernels call them, or as a program it does."""


@frozen
class ModelRow(ModelRecord):
    """A model as planned: its record, and what only the generated code and messages need."""

    macro: str
    pools: tuple[tuple[PoolRow, int], ...]
    """Each pool it uses, and how much of it: up to where; of constants their bytes, or all where they are passed."""
    declared_in: str
    """The header that declares its functions in C."""
    application_io: bool
    """Whether inputs and outputs are the caller's arrays."""

    @property
    def workspaces(self) -> tuple[PoolRow, ...]:
        """Its workspace pools."""
        return tuple(pool for pool, _ in self.pools if pool.is_workspace)

    @property
    def passed_workspaces(self) -> tuple[PoolRow, ...]:
        """Those of the application."""
        return tuple(pool for pool in self.workspaces if pool.is_passed)

    @property
    def generated_workspaces(self) -> tuple[PoolRow, ...]:
        """Those of the generated code, which exist once: with them, only one run of the model is possible at a time."""
        return tuple(pool for pool in self.workspaces if not pool.is_passed)

    @property
    def passed_constants(self) -> tuple[PoolRow, ...]:
        """Those of the application."""
        return tuple(pool for pool, _ in self.pools if pool.is_sealed)

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """What `run` takes a pointer to: (the struct's name after that of the model, the parameter's name)."""
        sides = (("inputs", self.has_inputs), ("outputs", self.has_outputs)) if self.application_io else ()
        ports = (side for side, is_there in (*sides, ("sink", bool(self.outputs_by_rows))) if is_there)
        return (*((port, port) for port in ports), *self.pool_parameters)

    @property
    def has_inputs(self) -> bool:
        """Whether there is a struct of its inputs: not if the only one arrives row by row."""
        return not self.inputs_by_rows or self.inputs != self.inputs_by_rows

    @property
    def has_outputs(self) -> bool:
        """Whether there is a struct of its outputs: not if the only one leaves row by row."""
        return not self.outputs_by_rows or self.outputs != self.outputs_by_rows

    @property
    def map_parameters(self) -> tuple[tuple[str, str], ...]:
        """Those of them that say where inputs and outputs are."""
        return (("workspace_pools", "workspace"),) if self.passed_workspaces else ()

    @property
    def pool_parameters(self) -> tuple[tuple[str, str], ...]:
        """Those of them that are pools of the application."""
        return (*self.map_parameters, *((("constant_pools", "constants"),) if self.passed_constants else ()))
