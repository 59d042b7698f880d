"""What the user meant: the manifest with every default applied and every name resolved.

No field here is None to say "the default"; None always means "none".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from usmp_build.errors import Span


class Access(Enum):
    """What a pool is for."""

    WORKSPACE = "rw"
    CONSTANT = "ro"


class InputOutput(Enum):
    """Where a model's inputs and outputs live."""

    POOL = "pool"
    APPLICATION = "application"


@dataclass(frozen=True, slots=True)
class PoolRequest:
    """A pool: a budget in one section of one memory region."""

    name: str
    access: Access
    limit: int | None
    """Bytes for us: the size less what is reserved for others."""
    alignment: int
    """Of the pool's base, in bytes; a power of two."""
    region: str
    """The linker's MEMORY region; empty when the linker script is left to place the section."""
    load_region: str
    """Where the image holds it until start-up code copies it to `region`; empty when it is used where it is loaded."""
    section: str
    origin: int | None
    span: Span | str = ""
    """The place of its size in the manifest; of its table when it has none."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A model and what it may use."""

    name: str
    path: str
    """As the manifest writes it: relative to the manifest."""
    sha256: str
    """Lower-case hex, or empty."""
    workspace_pools: tuple[int, ...]
    """Indices of `Request.pools`, most preferred first."""
    constant_pools: tuple[int, ...]
    io: InputOutput
    names: Mapping[str, str]
    """Tensor name in the model → C name of that input or output."""
    span: Span | str = ""
    names_span: Span | str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """The whole firmware."""

    project: str
    manifest: str
    """The manifest's file name, without folders."""
    pools: tuple[PoolRequest, ...]
    """In the manifest's order, which is the default order of preference."""
    models: tuple[ModelRequest, ...]
    """Sorted by name."""
    kernels: str
    """Name of the kernel library."""
    algorithm: str
    options: Mapping[str, object]
    """Options of the algorithm."""
    plan_span: Span | str = ""
    """Of the algorithm's name."""
    kernels_span: Span | str = ""
    option_spans: Mapping[str, Span] = field(default_factory=dict)
    """Of the options' keys."""
