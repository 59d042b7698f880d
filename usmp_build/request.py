"""What the user meant: the manifest with every default applied and every name resolved.

No field here is None to say "the default"; None always means "none".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from enum import Enum
from typing import Literal

from usmp_build.errors import Span
from usmp_build.frozen import frozen


class Access(Enum):
    """What a pool is for."""

    WORKSPACE = "rw"
    CONSTANT = "ro"


class Owner(Enum):
    """Who has the array of a pool."""

    GENERATED = "generated"
    APPLICATION = "application"


class Inputs(Enum):
    """How long inputs of a model in pools keep what the application wrote."""

    CONSUMED = "consumed"
    """The run may overwrite it once it has read it."""
    PRESERVED = "preserved"
    """Until another model runs."""
    RESERVED = "reserved"
    """Always: nothing else uses the memory."""


class Outputs(Enum):
    """How long outputs of a model in pools keep what a run wrote."""

    RUN = "run"
    """Until any model runs that may not run at the same time."""
    RESERVED = "reserved"
    """Until this model runs again."""


class Goal(Enum):
    """What is worth most in the plan of a model."""

    RAM = "ram"
    BALANCED = "balanced"
    """RAM too, but nothing that makes an operator do more; orders and directions cost nothing."""


REWRITES = (
    "activations",
    "composites",
    "constant_channels",
    "constants",
    "dead",
    "duplicates",
    "heads",
    "identities",
    "lookups",
    "pads",
    "parts",
    "shapes",
    "views",
)
"""The names of the rewrites that a manifest may switch off."""


class Isa(Enum):
    """The instructions that the kernels of a target may use."""

    PORTABLE = "portable"
    """Those of any C compiler."""
    SCALAR = "scalar"
    """Those of any processor, for weights that are packed for one that multiplies one number at a time: RISC-V,
    Cortex-M0, M3."""
    DSP = "dsp"
    """Arm's DSP extension: Cortex-M4, M7, M33."""
    MVE = "mve"
    """Helium, and the DSP extension: Cortex-M55, M85."""


class InputOutput(Enum):
    """Where a model's inputs and outputs live."""

    POOL = "pool"
    APPLICATION = "application"


@frozen
class Speed:
    """How fast a memory is: USMP's performance properties.  None where the manifest says nothing."""

    clock: int | None
    """Hertz."""
    read_bandwidth: int | None
    """Bytes per cycle of that clock."""
    write_bandwidth: int | None
    read_latency: int | None
    """Cycles before the first byte of a burst."""
    write_latency: int | None
    bursts: Mapping[int, int]
    """Position in `Request.targets` → bytes that this target moves in a burst; other targets move one."""


@frozen
class PoolRequest:
    """A pool: a budget in one section of one memory region."""

    name: str
    access: Access
    limit: int | None
    """Bytes that a plan may use: the manifest's `size` less its `reserve`; None: as many as needed."""
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
    """Positions in `Request.targets` of those that can read it."""
    writers: frozenset[int] = frozenset({0})
    page: int = 0
    """Bytes of a page, where the pool consists of pages; 0 where it is plain memory."""
    dims: int = 1
    """Axes of the memory: 1 where it is plain; more where it consists of pages."""
    owner: Owner = Owner.GENERATED
    cache_line: int = 0
    """Bytes of a cache line, where DMA transfers what the processor caches; else 0."""
    speed: Speed | None = None
    """None when the manifest says nothing of it."""
    budget: int | None = None
    """Bytes; a plan that takes more gets a warning."""

    @property
    def is_passed(self) -> bool:
        """Whether the application has the array, and passes a pointer to it."""
        return self.owner is Owner.APPLICATION

    @property
    def is_sealed(self) -> bool:
        """Whether it is a constant pool of the application: unless it is empty, it begins with a seal."""
        return self.is_passed and self.access is Access.CONSTANT


class Copying(Enum):
    """Who copies tensors into the memory of a target, and out of it."""

    MEMCPY = "memcpy"
    EXTERN = "extern"
    """A function of the application, which may start a DMA transfer."""


@frozen
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


@frozen
class TargetRequest:
    """A processor that runs operators."""

    name: str
    kernels: str
    """Name of its kernel library."""
    copies: Copying = Copying.MEMCPY
    isa: Isa = Isa.PORTABLE
    rules: tuple[OperandRule, ...] = ()
    span: Span | str = ""
    kernels_span: Span | str = ""


@frozen
class PlaceRequest:
    """An exception to what a model says; it selects by one of `operators`, `tensors`, `scope` and `positions`."""

    operators: str = ""
    """A pattern of operator kinds."""
    tensors: str = ""
    """A pattern of tensor names."""
    scope: str = ""
    """A pattern of the memory scopes of tensors."""
    positions: tuple[int, int] | None = None
    """Operators by position in the model file: the first and the last."""
    operands: tuple[str, ...] = ()
    """Which operands of the operators `pools` speaks of, as in `OperandRule`; empty: outputs and scratch."""
    target: int | None = None
    """None: as without the rule."""
    pools: tuple[int, ...] = ()
    """Empty: as without the rule."""
    kernels: str = ""
    """Empty: as without the rule."""
    axis_separators: tuple[int, ...] | None = None
    """None: as without the rule."""
    span: Span | str = ""


@frozen
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
    sha256_span: Span | str = ""
    places: tuple[PlaceRequest, ...] = ()
    """Later rules go before earlier ones."""
    inputs: Inputs = Inputs.CONSUMED
    outputs: Outputs = Outputs.RUN
    goal: Goal = Goal.RAM
    rewrites_off: frozenset[str] = frozenset()
    """Of `REWRITES`."""
    free_order: bool = True
    """Whether operators may run in another order than that of the file."""
    budget: int | None = None
    """Bytes of workspace that it should need alone."""
    recompute: int = 0
    """Per cent: how many more multiplications it may take to need less memory."""
    inputs_by_rows: Span | str = ""
    """The place that says that the largest input arrives row by row; empty: it is in one piece."""
    outputs_by_rows: Span | str = ""
    """The same of the largest output, which leaves row by row."""
    overrides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Settings from the command line or a build system, by key, with the names that they list; a path lists none."""

    @property
    def has_row_ports(self) -> bool:
        """Whether it gets or gives rows from outside."""
        return bool(self.inputs_by_rows or self.outputs_by_rows)

    def retention_settings(
        self,
    ) -> Iterator[tuple[Literal["inputs", "outputs"], Literal["preserved", "reserved"], ModelRequest]]:
        """Yield each setting that lets data outlive a run, its key and value, and the model without it.

        Arrays of the caller have none.
        """
        if self.io is InputOutput.POOL and self.inputs is not Inputs.CONSUMED:
            yield "inputs", self.inputs.value, replace(self, inputs=Inputs.CONSUMED)
        if self.io is InputOutput.POOL and self.outputs is not Outputs.RUN:
            yield "outputs", self.outputs.value, replace(self, outputs=Outputs.RUN)


@frozen
class ConnectionRequest:
    """An output of one model that is an input of another."""

    producer: int
    """Position in `Request.models`."""
    output: str
    """As the manifest writes it: the output's name in C, or in the model."""
    consumer: int
    input: str
    producer_span: Span | str = ""
    consumer_span: Span | str = ""


@frozen
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
    overlap: bool = True
    """Whether what an operator writes may take the place of what it has read by then."""
    rows: bool = True
    """Whether layers may run row by row."""
    concurrent: frozenset[tuple[int, int]] = frozenset()
    """Pairs of models, the smaller position first, that may be alive at the same time.  Not transitive."""
    connections: tuple[ConnectionRequest, ...] = ()
    """Between models of the plan."""

    def with_model(self, index: int, model: ModelRequest) -> Request:
        """Return the request with another model in this position."""
        return replace(self, models=(*self.models[:index], model, *self.models[index + 1 :]))

    def without_model(self, index: int) -> Request:
        """Return the request without a model, and without its connections and its pairs in `concurrent`."""

        def position(model: int) -> int:
            return model - (model > index)

        return replace(
            self,
            models=(*self.models[:index], *self.models[index + 1 :]),
            concurrent=frozenset(
                (position(one), position(other)) for one, other in self.concurrent if index not in (one, other)
            ),
            connections=tuple(
                replace(each, producer=position(each.producer), consumer=position(each.consumer))
                for each in self.connections
                if index not in (each.producer, each.consumer)
            ),
        )

    def layer_by_layer(self) -> Request:
        """Return the request without rows: inputs and outputs are in one piece, too."""
        models = tuple(replace(model, inputs_by_rows="", outputs_by_rows="") for model in self.models)
        return replace(self, models=models, rows=False)

    def as_filed(self) -> Request:
        """Return the request to plan the models as their files have them: no rewrite, file order, no overlap."""
        request, off = self.layer_by_layer(), frozenset(REWRITES)
        models = tuple(replace(model, rewrites_off=off, free_order=False) for model in request.models)
        return replace(request, models=models, overlap=False)

    def are_concurrent(self, one: int, other: int) -> bool:
        """Tell whether two models may be alive at the same time."""
        return (min(one, other), max(one, other)) in self.concurrent

    def excluded(self, model: int) -> tuple[int, ...]:
        """Return the models that may not run while a model does: itself, and all but its concurrent ones."""
        return tuple(other for other in range(len(self.models)) if not self.are_concurrent(model, other))
