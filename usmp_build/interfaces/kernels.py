"""Declarations of a kernel library for one operator: the calls that run it, and the buffers that they need.

    row      one output row at a time, from pointers to the input rows that it needs (NULL = padding)
    reduce   begin, consume a row, ..., finish
    whole    one call, with all of every operand
    pieces   one call for each piece; an operand may be the same for all

A layer is a loop over rows.  The generated loop is derived from the declaration, and so are the possible rows of a
tensor in memory of pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from math import gcd
from typing import Protocol, TypeAlias

from usmp_build.frozen import frozen
from usmp_build.interfaces.accesses import Accesses
from usmp_build.ir.graph import DType, Operator, Subgraph
from usmp_build.ir.schedule import Direction

LONGEST_RANK = 6
"""Most dimensions that fit `struct usmp_shape` of "usmp.h"."""


@frozen
class Input:
    """An argument of a C call: the data of the operator's input at this position."""

    position: int


@frozen
class Output:
    """An argument: the data of the operator's output at this position."""

    position: int


@frozen
class Derived:
    """An argument: the constant at this position of `Kernel.constants`."""

    position: int


@frozen
class Scratch:
    """An argument: the scratch buffer at this position of `Kernel.scratch`."""

    position: int


@frozen
class Absent:
    """An argument: NULL, for an input that the operator omits."""


Operand: TypeAlias = Input | Output | Derived | Scratch | Absent


@frozen
class Whole:
    """`function(&parameters, operands...)`, once."""


@frozen
class Rows:
    """`function(&parameters, rows, other operands..., output row)` for every output row.

    Output row y of an image needs the input rows `(y * stride + phase) / repeat - before + k * dilation` for k in
    [0, window); those outside the image are NULL.  The first operand is the streamed input, the last one the output.
    """

    images: int
    rows: int
    """Output rows of an image."""
    input_rows: int
    """Input rows of an image."""
    input_row_elements: int
    """Elements of an input row."""
    output_row_elements: int
    """Elements of an output row."""
    window: int = 1
    stride: int = 1
    dilation: int = 1
    before: int = 0
    """Padding rows above the image."""
    untyped: bool = False
    """Whether the function takes rows of any type, as `const void *`."""
    repeat: int = 1
    """Output rows for `stride` input rows."""
    phase: int = 0
    """Less than `repeat`."""
    numbered: bool = False
    """Whether the function gets the number of the output row in the image, too, right after the input rows."""

    def first_row(self, row: int) -> int:
        """Return the first input row under the window of an output row, which may be outside the image."""
        return (row * self.stride + self.phase) // self.repeat - self.before


@frozen
class Reduce:
    """`function_begin(&parameters, scratch)`, `function_row(&parameters, row, others..., scratch)` for every input row,
    `function_finish(&parameters, scratch, others..., output)`; all that for every image.

    Operands are the streamed input, others of a row, the scratch that accumulates, others of the finish, the output.
    """

    images: int
    rows: int
    """Input rows of an image."""
    input_row_elements: int
    output_row_elements: int
    """Those of an image's output."""
    any_order: bool = False
    """Whether rows may be consumed in any order, as sums of integers allow."""
    numbered: bool = False
    """Whether `_row` gets the number of the row in the image, too, right after the row."""


@frozen
class Pieces:
    """`function(&parameters, piece of the first operand, ..., piece of the last)` for every piece."""

    count: int
    pitches: tuple[int, ...]
    """Elements from one piece to the next, for each operand; 0: all calls get the same piece."""


Form: TypeAlias = Whole | Rows | Reduce | Pieces


Value: TypeAlias = "int | float | tuple[Value, ...]"
"""Value of a struct's member: every int fits an int32_t, every float is a float32, a tuple is a struct or an array."""


@frozen
class Parameters:
    """The scalars of a call: `static const struct <project>_<struct> = { fields }`, in the struct's order."""

    struct: str
    fields: tuple[tuple[str, Value], ...]
    """(name, value)."""


@frozen
class Member:
    """A member of a struct of parameters."""

    c_type: str
    name: str
    comment: str = ""


@frozen
class Prototype:
    """The declaration of a function that the application supplies; equal for all calls of the function."""

    comment: str
    members: tuple[Member, ...]
    """Members of the struct of its parameters."""
    arguments: tuple[str, ...]
    """C declarations of the arguments after the parameters."""


@frozen
class Traffic:
    """Bytes that a kernel moves between the processor and an operand; repeated reads count again."""

    read: int = 0
    written: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        """Add both sides."""
        return Traffic(self.read + other.read, self.written + other.written)

    def __rmul__(self, times: int) -> Traffic:
        """Multiply both sides."""
        return Traffic(times * self.read, times * self.written)


@frozen
class KernelCall:
    """One C function and its arguments; `parameters` come first if there are any."""

    function: str
    """Name without the plan's prefix: "conv_2d_s8_row"."""
    form: Form
    operands: tuple[Operand, ...]
    parameters: Parameters | None = None
    traffic: Mapping[int, Traffic] = field(default_factory=dict, hash=False)
    """Position of an operand → its traffic in all rounds of the loop, where that does not follow from `accesses`.  An
    operand that is in neither is touched once: inputs are read, outputs are written, scratch both."""
    prototype: Prototype | None = None
    """Declaration of a function that the application supplies; None: the library defines it."""
    backward: bool = False
    """Whether the loop over rows or pieces, and that over images, begin with the last one."""
    accesses: Accesses | None = None
    """Accesses of one call of the function, in order; reversed if the call is `backward`.  For rows and pieces those of
    one; for a reduction the parts of begin, row and finish.  None: the order of accesses is unknown, and no operand of
    the operator overlaps anything."""

    def streamed(self) -> Mapping[Operand, int]:
        """Return the operands that are passed row by row, each with the elements of a row."""
        first, last = self.operands[0], self.operands[-1]
        match self.form:
            case Rows() | Reduce() as form:
                return {first: form.input_row_elements, last: form.output_row_elements}
            case Pieces(pitches=pitches):
                return {operand: pitch for operand, pitch in zip(self.operands, pitches, strict=True) if pitch}
        return {}


@frozen
class ScratchRequest:
    """A scratch buffer of a kernel; `size` is in bytes."""

    name: str
    size: int
    dtype: DType


@frozen
class Strike:
    """Names of pools that an operand must not be in, although its model and its target allow them."""

    operand: Operand
    pools: frozenset[str]


@frozen
class Constant:
    """Data that a kernel library derives from the model: requantization multipliers, look-up tables."""

    name: str
    dtype: DType
    data: bytes
    """Little-endian elements."""


@frozen
class Kernel:
    """The implementation of an operator: its calls in order, and their requirements."""

    calls: tuple[KernelCall, ...]
    constants: tuple[Constant, ...] = ()
    scratch: tuple[ScratchRequest, ...] = ()
    alignment: int = 1
    """Alignment in bytes of every tensor in a pool that it touches, if more than that of the elements; the caller's
    arrays are only aligned to their elements."""
    strikes: tuple[Strike, ...] = ()
    library: str = ""
    """The name of its library; set when it is selected, unless it comes from "reference" by way of another library."""
    updates: frozenset[int] = frozenset()
    """Positions of inputs that it also writes: variables, which it changes in place."""
    pitched: frozenset[Operand] = frozenset()
    """Operands that may have a pixel stride: if `Subgraph.pitches` has one for them, the library returns another
    kernel."""
    slower: frozenset[Operand] = frozenset()
    """Those of `pitched` that then take more instructions; of a kernel by rows, the output if it takes more than at
    once."""
    backward: Kernel | None = None
    """A kernel with the same results that writes the output from the last byte to the first; None: there is none.  It
    has the same constants, scratch, alignment, strikes, updates and pitched operands, and moves the same bytes: the
    direction is chosen after all these are fixed."""
    beyond: tuple[tuple[Input | Derived, int], ...] = ()
    """Constants behind whose last byte it reads, with the most bytes: whatever is there changes no result."""
    declined: tuple[str, ...] = ()
    """Why there are no faster kernels for the target, fastest first: "dsp: it scales by more than 1/2"."""
    by_rows: Kernel | None = None
    """A kernel with the same results that goes by rows: slices along the first axis that is longer than 1.

    It has calls in `Pieces`, one for each row, or one call of `Rows` or `Reduce`; it may have other constants and other
    scratch.  None: there is none, or this kernel already goes row by row."""

    def towards(self, direction: Direction) -> Kernel:
        """Return the kernel for a direction; the forward one if there is no other."""
        return self.backward if direction is Direction.BACKWARD and self.backward is not None else self

    def row_pitches(self) -> Mapping[Operand, int]:
        """Return the operands that every call gets row by row, each with the elements of a piece that divides all rows.

        They may be in memory of pages, where each row is contiguous and rows are anywhere.
        """
        pitches: dict[Operand, int] = {}
        at_once: set[Operand] = set()
        for call in self.calls:
            streamed = call.streamed()
            at_once.update(operand for operand in call.operands if operand not in streamed)
            for operand, pitch in streamed.items():
                pitches[operand] = gcd(pitch, pitches.get(operand, 0))
        return {operand: pitch for operand, pitch in pitches.items() if operand not in at_once}

    def input_positions(self) -> frozenset[int]:
        """Return the positions of the operator's inputs that any call reads."""
        operands = (operand for call in self.calls for operand in call.operands)
        return frozenset(operand.position for operand in operands if isinstance(operand, Input))


@frozen
class NoKernel:
    """The library cannot run the operator; it can still be planned."""

    reason: str
    """A clause for a message: "it has no kernel for int16"."""


@frozen
class KernelSources:
    """The C of a set of kernels, each function once; names begin with the requested prefix."""

    header: str
    """Structs and prototypes: the body of a header, without guards."""
    source: str
    """Definitions."""
    needs_math: bool = False
    """Whether they call functions of <math.h>, for which some linkers need an option."""
    links: str = ""
    """The library of the application whose header they include, as CMake calls it: "cmsis-nn"."""


class KernelLibrary(Protocol):
    """Kernels for one kind of processor (entry-point group `usmp_build.kernels`).

    The entry point is a class, or a function that returns an instance: it is called without arguments.  If it has an
    attribute `for_target`, that is called instead, with the `TargetRequest` whose operators are to run: then `kernel`
    may depend on the target.  `sources` may not: it is called once for all targets.
    """

    def kernel(self, operator: Operator, graph: Subgraph, /) -> Kernel | NoKernel:
        """Return the kernel of `operator` in `graph`.

        Raises KernelError if the result of its arithmetic is undefined, for example with a scale of 0.
        """

    def sources(self, calls: Iterable[KernelCall], prefix: str, /) -> KernelSources:
        """Return the C of the functions of these calls, and of their helpers, and nothing else."""


Libraries: TypeAlias = Mapping[tuple[int, str], KernelLibrary]
"""(target, name) → library; the same library may differ from target to target."""
