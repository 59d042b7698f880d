"""Models as planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from usmp_build.layout.costs import KeepRow
from usmp_build.layout.pools import PoolRow


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
