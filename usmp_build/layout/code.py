"""The C of one model: what templates set, with every name made and every row in order."""

from __future__ import annotations

from usmp_build.frozen import frozen
from usmp_build.layout.buffers import BufferRow
from usmp_build.layout.constants import ConstantGroup
from usmp_build.layout.functions import BodyLine, FunctionCode
from usmp_build.layout.pools import PoolRow
from usmp_build.layout.rows import Arrival, Jobs, Moves, RowOffsets, RowStep, smallest_unsigned
from usmp_build.units import align_up


@frozen
class PortRow:
    """An input or output of a model."""

    name: str
    """The member of `struct kws_inputs`."""
    macro: str
    """The prefix of its macros: `KWS_AUDIO`."""
    c_type: str
    size: int
    """Bytes."""
    elements: int
    shape: tuple[int, ...]
    alignment: int
    comment: str
    """Type, shape and tensor name."""
    scale: str
    """A C literal; empty when the tensor is not quantized as a whole."""
    zero_point: int
    expression: str
    """Where its bytes are, as C in the model's file."""
    cache_line: int = 0
    """Bytes of the cache lines that it shares with nothing, in memory where DMA and a cache meet; else 0."""
    is_connected: bool = False
    """Whether it is an input that a run of another model fills, and not the application."""
    rows: int = 0
    """Its rows, if it arrives or leaves row by row; else 0."""

    @property
    def row_size(self) -> int:
        """Bytes of a row, if it has rows."""
        return self.size // (self.rows or 1)

    @property
    def cached(self) -> int:
        """Bytes to clean or to invalidate: all cache lines of it, or of a row."""
        return align_up(self.row_size, self.cache_line or 1)


@frozen
class BufferCode:
    """A buffer of a model in a workspace pool: its offset, and the pointer to it in `run`."""

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
    is_used: bool
    """Whether a step gets the pointer; an input that nothing reads is not used."""


@frozen
class TableCode:
    """A table of pointers to the rows of a tensor in memory of pages."""

    symbol: str
    """`kws_t5_rows`."""
    macro: str
    """`KWS_T5_ROWS(X, a, b)` is `X(a, b, pool, first page, pages)` for each row, one after the other."""
    c_type: str
    elements: int
    """Of a row."""
    rows: tuple[tuple[int, int], ...]
    """Pool, and the page at which the row begins."""
    pages: int
    """Of a row."""
    page: int
    """Bytes."""
    comment: str
    lives: str


@frozen
class LoopCode:
    """A loop over the rows, `y`, of each image, `n`; all numbers are meant as in `interfaces.kernels`.

    What there is once is no loop in C, and its counter is in no expression.
    """

    images: int = 1
    rows: int = 1
    declarations: tuple[str, ...] = ()
    """What an image begins with."""
    window: int = 1
    row: str = ""
    """The number of the input row at `k` of the window, in C; empty where none is padding."""
    is_inside: str = ""
    """The condition in C that this `row` is one of the image."""
    backward: bool = False
    """Whether it begins with the last image, and with its last row; the rows of a reduction are in order anyway."""


@frozen
class CallCode:
    """One kernel call inside a step's function."""

    form: str
    """"whole", "rows", "reduce" or "pieces": see `interfaces.kernels`."""
    function: str
    struct: str
    """Tag of the parameters' struct; empty for a call without parameters."""
    fields: tuple[tuple[str, str], ...]
    """(name, C literal)."""
    arguments: tuple[str, ...]
    """C expressions, in order; without the streamed input and the result of a row loop.  Of a reduction those of
    `_row`."""
    loop: LoopCode = LoopCode()
    streamed: str = ""
    """The row that is read: number `row` where the loop has such, else that of `y`, and of `k` in a window."""
    result: str = ""
    """The row that is written."""
    streamed_type: str = ""
    """Of a pointer to `streamed`."""
    begin: tuple[str, ...] = ()
    """Of a reduction, what `_begin` gets."""
    finish: tuple[str, ...] = ()
    """Of a reduction, what `_finish` gets before the result."""


@frozen
class TraceRow:
    """A tensor that the hook shows after a step."""

    position: int
    tensor: int
    expression: str
    size: int
    row: int = 0
    """Bytes of a row where `expression` is a table of rows, or of a pixel where these lie apart; else 0."""
    pitch: int = 0
    """Bytes from one pixel to the next where these lie apart; else 0."""


@frozen
class StepCode:
    """An operator: a function of its own, and its call."""

    function: str
    comment: tuple[str, ...]
    signature: tuple[str, ...]
    """C declarations of its parameters."""
    calls: tuple[CallCode, ...]
    arguments: tuple[str, ...]
    """What `run` passes; to an operator that runs row by row the number of the row, too."""
    traces: tuple[TraceRow, ...]
    """Of an operator that runs row by row, what the hook shows after its last job."""


@frozen
class CopiedBytes:
    """A tensor that is copied into a subgraph, or out of it."""

    destination: str
    """As C."""
    source: str
    size: int
    """Bytes, at least 1."""


@frozen
class FlowLine:
    """A line of control flow: a step, a copy, what the hook shows, or C such as where a branch begins."""

    depth: int
    text: str = ""
    step: int | None = None
    """Index of the step's function."""
    copied: CopiedBytes | None = None
    trace: TraceRow | None = None
    pointer: str = ""
    """What `text` reads or writes."""


@frozen
class ResetRow:
    """A variable, and what it holds before the first run."""

    buffer: BufferCode
    source: str
    """The constant that it is copied from, as C; empty: all its bytes are `value`."""
    value: int


@frozen
class ModelCode:
    """The C of one model."""

    inputs: tuple[PortRow, ...]
    outputs: tuple[PortRow, ...]
    validity: tuple[str, ...]
    """How long inputs and outputs in the pools are valid: lines of a comment."""
    exclusion: tuple[str, ...]
    """What may not run while the model does: lines of a comment."""
    sha256: str
    """Of the model's file; empty where the code runs with other weights, too, for those are the application's."""
    buffers: tuple[BufferCode, ...]
    views: tuple[TraceRow, ...]
    """Views of inputs, which the hook shows before the first step."""
    steps: tuple[StepCode, ...]
    row_steps: tuple[RowStep, ...]
    """Those that run row by row."""
    row_offsets: tuple[RowOffsets, ...]
    """Where the rows of tensors in plain memory are, and where operators read them that have moved."""
    moves: tuple[Moves, ...]
    """The moves of rows, pool by pool."""
    sequence: tuple[int | Jobs | tuple[FlowLine, ...], ...]
    """What `run` does: indices of whole `steps`, stretches of jobs, and control flow."""
    passed_constants: tuple[ConstantGroup, ...]
    """Those that steps and functions get in constant pools of the application."""
    tables: tuple[TableCode, ...]
    """The buffers of the model in memory of pages, tensor by tensor."""
    paged: tuple[tuple[int, PoolRow, int], ...]
    """The pools they are in: number, pool, bytes of a page."""
    checks: tuple[tuple[str, str], ...]
    """(condition, name): the plan, checked once more by the C compiler."""
    overlap_checks: tuple[tuple[str, str], ...]
    """The same of pairs that may share bytes while both are alive."""
    table_checks: tuple[tuple[str, str], ...]
    """The same of `tables`."""
    functions: tuple[FunctionCode, ...]
    """Of a program; `steps` are empty then."""
    body: tuple[BodyLine, ...]
    """What its main does."""
    choices: tuple[tuple[str, str], ...] = ()
    """Functions of two numbers that the functions call: "min" or "max", and their C type."""
    calls_math: bool = False
    """Whether the functions call those of <math.h>."""
    arrival: Arrival | None = None
    """The input whose rows arrive from outside."""
    resets: tuple[ResetRow, ...] = ()
    """What its variables hold before the first run."""
    reset_constants: tuple[ConstantGroup, ...] = ()
    """Those of constant pools of the application that are copied then."""

    @property
    def plain_inputs(self) -> tuple[PortRow, ...]:
        """The inputs in one piece."""
        return tuple(port for port in self.inputs if not port.rows)

    @property
    def plain_outputs(self) -> tuple[PortRow, ...]:
        """The outputs in one piece."""
        return tuple(port for port in self.outputs if not port.rows)

    @property
    def output_by_rows(self) -> PortRow | None:
        """The output that leaves row by row."""
        return next((port for port in self.outputs if port.rows), None)

    @property
    def needs_math(self) -> bool:
        """Whether <math.h> defines what it calls, or how a scalar is spelled: INFINITY or NAN."""
        literals = (value for step in self.steps for call in step.calls for _, value in call.fields)
        return self.calls_math or any("INFINITY" in value or "NAN" in value for value in literals)

    @property
    def stretches(self) -> tuple[Jobs, ...]:
        """The stretches of jobs."""
        return tuple(part for part in self.sequence if isinstance(part, Jobs))

    @property
    def table_symbols(self) -> tuple[str, ...]:
        """The names of tables of rows, moves and jobs."""
        moves, jobs = (each.symbol for each in self.moves), (each.symbol for each in self.stretches)
        return (*(each.symbol for each in self.row_offsets), *moves, *jobs)

    @property
    def has_flow(self) -> bool:
        """Whether it has control flow."""
        return any(isinstance(part, tuple) for part in self.sequence)

    @property
    def copies_bytes(self) -> bool:
        """Whether control flow copies tensors."""
        return any(line.copied for part in self.sequence if isinstance(part, tuple) for line in part)

    @property
    def spread(self) -> RowOffsets | None:
        """A table of rows that are in several pools, if there is one: all such tables read alike."""
        return next((table for table in self.row_offsets if table.is_in_several), None)

    @property
    def count_type(self) -> str:
        """The C type that counts the jobs of each operator that runs row by row."""
        counts = (*(each.last + 1 for each in self.row_steps), *(port.rows for port in self.inputs))
        return smallest_unsigned(max(*counts, *(len(each.entries) for each in self.moves)))

    @property
    def counters(self) -> int:
        """How many such counts there are: of operators, of rows that arrive, and of moves in each pool."""
        return len(self.row_steps) + (self.arrival is not None) + len(self.moves)

    @property
    def position_type(self) -> str:
        """The C type of a position in the table of jobs, counted from 1, up to one after its end."""
        return smallest_unsigned(1 + sum(len(jobs.operators) for jobs in self.stretches))

    @property
    def width(self) -> int:
        """Columns of the widest constant of the plan, for the table that they make."""
        constants = (f"{each.macro}_OFFSET = {max(each.row.offset, each.row.size)}," for each in self.buffers)
        return max(map(len, constants), default=0)
