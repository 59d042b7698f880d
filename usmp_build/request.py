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
    readers: frozenset[int] = frozenset({0})
    """Positions in `Request.targets` of who can read it."""
    writers: frozenset[int] = frozenset({0})
    page: int = 0
    """Bytes of a page, where the pool consists of pages; 0 where it is plain memory."""


class Copying(Enum):
    """Who brings tensors to and from where a target works."""

    MEMCPY = "memcpy"
    EXTERN = "extern"
    """A function of the application, which may start a DMA transfer."""


@dataclass(frozen=True, slots=True)
class OperandRule:
    """What a target demands of some operands of some operators."""

    operators: str
    """A pattern of operator kinds: "CONV_2D", "*"."""
    operands: tuple[str, ...]
    """"inputs", "outputs", "constants", "scratch", or one of them by position: "input 0", "output 1".  Empty: all."""
    pools: tuple[int, ...] = ()
    """The only pools that these operands may live in; empty when the rule does not restrict them."""
    scratch: int = 0
    """Bytes that the operators need while they run."""
    alignment: int = 1
    """Of these operands in pools, in bytes."""
    span: Span | str = ""


@dataclass(frozen=True, slots=True)
class TargetRequest:
    """A processor that runs operators."""

    name: str
    kernels: str
    """Name of its kernel library."""
    copies: Copying = Copying.MEMCPY
    rules: tuple[OperandRule, ...] = ()
    span: Span | str = ""
    kernels_span: Span | str = ""


@dataclass(frozen=True, slots=True)
class PlaceRequest:
    """An exception to what a model says; it selects by exactly one of `operators`, `tensors`, `positions`."""

    operators: str = ""
    """A pattern of operator kinds."""
    tensors: str = ""
    """A pattern of tensor names."""
    positions: tuple[int, int] | None = None
    """Operators by position in the model file: the first and the last."""
    operands: tuple[str, ...] = ()
    """Which operands of the operators `pools` speaks of, as in `OperandRule`; empty: outputs and scratch."""
    target: int | None = None
    """None: as before."""
    pools: tuple[int, ...] = ()
    """Empty: as before."""
    kernels: str = ""
    """Empty: as before."""
    axis_separators: tuple[int, ...] | None = None
    """None: as before."""
    span: Span | str = ""


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
    places: tuple[PlaceRequest, ...] = ()
    """Later rules go before earlier ones."""


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
    targets: tuple[TargetRequest, ...]
    """The first one runs whatever is not placed elsewhere."""
    algorithm: str
    options: Mapping[str, object]
    """Options of the algorithm."""
    plan_span: Span | str = ""
    """Of the algorithm's name."""
    option_spans: Mapping[str, Span] = field(default_factory=dict)
    """Of the options' keys."""
    layout_copies: bool = False
    """Whether a tensor in memory of pages may be copied because two operators want rows of different lengths."""
