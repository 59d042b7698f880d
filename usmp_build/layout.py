"""What emitters see: the plan with every name made and every row in order.

All decisions have been taken in `arrange`; a template only sets the type.  Fields are text, numbers and tuples.
"""

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
class ConstantRow:
    """A member of a struct of constants."""

    member: str
    c_type: str
    count: int
    comment: str
    """What it is; empty for padding."""
    lines: tuple[str, ...]
    """The values, ready to print."""


@dataclass(frozen=True, slots=True)
class ConstantGroup:
    """The constants of one pool that only one model reads, or that several do: one C object."""

    symbol: str
    """The object and the tag of its struct: `kws_flash_constants`."""
    models: tuple[int, ...]
    pool: PoolRow
    alignment: int
    """Of the object.  Its size is a multiple of it, so that no linker leaves gaps between the objects of a pool."""
    rows: tuple[ConstantRow, ...]

    @property
    def needs_math(self) -> bool:
        """Whether a value is spelled INFINITY or NAN, which <math.h> defines."""
        return any("N" in line for row in self.rows for line in row.lines if row.c_type in {"float", "double"})


@dataclass(frozen=True, slots=True)
class PortRow:
    """An input or output of a model."""

    name: str
    """The member of `struct kws_inputs`."""
    macro: str
    """The prefix of its macros: `KWS_AUDIO`."""
    c_type: str
    size: int
    alignment: int
    comment: str
    """Type, shape and tensor name."""
    scale: str
    """A C literal; empty when the tensor is not quantized as a whole."""
    zero_point: int
    expression: str
    """Where its bytes are, as C in the model's file."""


@dataclass(frozen=True, slots=True)
class Place:
    """A pointer of the model's `run` function into a workspace pool."""

    variable: str
    """`t22` for tensor 22 of the model and all that share its buffer, `s0` for scratch."""
    c_type: str
    macro: str
    """`<macro>_OFFSET` and `<macro>_BYTES` are constants of the model's file."""
    row: BufferRow
    pool: PoolRow
    comment: str
    """The buffer's name within its model."""
    lives: str
    """The steps of its model during which it is alive, counted from 0: filling the inputs."""
    used: bool
    """Whether a step gets the pointer; an input that nothing reads is not used."""


@dataclass(frozen=True, slots=True)
class LoopCode:
    """The numbers of a row loop, named and meant as in `interfaces.kernels`."""

    images: int = 1
    rows: int = 1
    input_rows: int = 1
    input_pitch: int = 0
    output_pitch: int = 0
    window: int = 1
    stride: int = 1
    dilation: int = 1
    before: int = 0

    @property
    def inside(self) -> bool:
        """Whether no row that is asked for is padding."""
        last = (self.rows - 1) * self.stride + (self.window - 1) * self.dilation
        return self.before == 0 and last < self.input_rows


@dataclass(frozen=True, slots=True)
class CallCode:
    """One kernel call inside a step's function."""

    form: str
    """"whole", "rows" or "reduce": see `interfaces.kernels`."""
    function: str
    struct: str
    """Tag of the parameters' struct; empty for a call without parameters."""
    fields: tuple[tuple[str, str], ...]
    """(name, C literal)."""
    arguments: tuple[str, ...]
    """C expressions, in order; without the streamed input and the result of a row loop."""
    loop: LoopCode
    streamed: str = ""
    """The input that is read row by row."""
    streamed_type: str = ""
    result: str = ""
    """The output that is written row by row."""
    result_type: str = ""


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A tensor that the hook shows after a step."""

    position: int
    tensor: int
    expression: str
    size: int


@dataclass(frozen=True, slots=True)
class StepCode:
    """An operator: a function of its own, and its call."""

    function: str
    comment: tuple[str, ...]
    signature: tuple[str, ...]
    """C declarations of its parameters."""
    calls: tuple[CallCode, ...]
    arguments: tuple[str, ...]
    """What `run` passes."""
    traces: tuple[TraceRow, ...]


@dataclass(frozen=True, slots=True)
class ModelCode:
    """The C of one model."""

    inputs: tuple[PortRow, ...]
    outputs: tuple[PortRow, ...]
    places: tuple[Place, ...]
    views: tuple[TraceRow, ...]
    """Views of inputs, which the hook shows before the first step."""
    steps: tuple[StepCode, ...]
    checks: tuple[tuple[str, str], ...]
    """(condition, name): the plan, checked once more by the C compiler."""

    @property
    def needs_math(self) -> bool:
        """Whether a scalar is spelled INFINITY or NAN, which <math.h> defines."""
        literals = (value for step in self.steps for call in step.calls for _, value in call.fields)
        return any(value.endswith(("INFINITY", "NAN")) for value in literals)

    @property
    def width(self) -> int:
        """Columns of the widest constant of the plan, for the table that they make."""
        return max((len(f"{p.macro}_OFFSET = {max(p.row.offset, p.row.size)},") for p in self.places), default=0)


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


@dataclass(frozen=True, slots=True)
class Layout:
    """A plan and everything that C needs."""

    summary: Summary
    constants: tuple[ConstantGroup, ...]
    models: tuple[tuple[ModelRow, ModelCode], ...]
    kernel_header: str
    kernel_source: str
