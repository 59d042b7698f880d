"""The loop nest of a kernel, described once: the form of its call, its accesses and its traffic follow from it.

    FULLY_CONNECTED     for each of 2 batches
                            for each four of 10 outputs            a turn
                                read    64 inputs of the batch, four filters, four biases
                                write   four outputs

    Nest(
        {"batches": 2, "outputs": Blocks(10, 4)},
        (
            reads(Input(0), 64, {"batches": 64}),
            aside(Input(1), 64, {"outputs": 64}, fills=True),
            aside(Input(2), 1, {"outputs": 1}),
            writes(Output(0)),
        ),
    )

Axes have names, the outermost comes first; what an operand states for an axis is how far its elements move from one
index to the next, or the window under which they are.  Kernels that the generated code calls for each row of an image
state a nest over all rows, too, whose first axes are `images` and `rows`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from usmp_build.frozen import frozen
from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window
from usmp_build.interfaces.call_traffic import elements
from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Form,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Rows,
    Scratch,
    ScratchRequest,
    Traffic,
    Value,
    Whole,
)
from usmp_build.kernels.node import Node
from usmp_build.kernels.window import Under

Fields: TypeAlias = "tuple[tuple[str, Value], ...]"
"""Parameters of a call, in the order of their struct."""

Along: TypeAlias = "Mapping[str, int | Under]"
"""Axis → elements from one index to the next, or the window that the index moves; 0 for axes that are missing."""

Moved: TypeAlias = Mapping[Operand, Traffic]
"""The traffic of operands for which the accesses of the nest count too much or too little."""


class Blocks(NamedTuple):
    """An innermost axis, of which a turn takes several indices at once."""

    size: int
    block: int
    singly: bool = False
    """Whether turns take what is left at the end one by one, not at once."""

    def runs(self) -> Iterator[_Run]:
        """Yield the turns that take equally many indices."""
        whole, rest = divmod(self.size, self.block)
        lanes = 1 if self.singly else rest
        runs = _Run(whole, self.block, 0), _Run(rest // max(lanes, 1), lanes, whole * self.block)
        return (run for run in runs if run.turns)


class _Run(NamedTuple):
    """Turns that take `lanes` indices each of an axis in blocks, from the first one on."""

    turns: int
    lanes: int
    first: int


_ONE_BY_ONE = _Run(1, 1, 0)

_IN_ORDER: Along = MappingProxyType({})
"""Each turn touches the elements right after those of the previous turn."""


@frozen
class Span:
    """The elements of an operand that a turn touches: `size` neighbors, from a place that moves along axes."""

    operand: Operand
    size: int
    along: Along
    start: int = 0
    writes: bool = False
    is_aside: bool = False
    """Whether the operand overlaps nothing, so that only its traffic counts."""
    fills: bool = False
    """Whether as much is read for the last block of an axis as for the others."""
    rows: tuple[int, ...] = ()
    """Those of `Touch`: steps of the axes inside a row to the only row under the window that is touched."""


def reads(operand: Operand, size: int = 1, along: Along = _IN_ORDER, start: int = 0) -> Span:
    """Return what a turn reads of an operand."""
    return Span(operand, size, along, start)


def writes(operand: Operand, size: int = 1, along: Along = _IN_ORDER, start: int = 0) -> Span:
    """Return what a turn writes of an operand."""
    return Span(operand, size, along, start, writes=True)


def aside(operand: Operand, size: int = 1, along: Along = _IN_ORDER, *, fills: bool = False) -> Span:
    """Return what a turn reads of an operand that overlaps nothing: weights, tables, what is read in any order."""
    return Span(operand, size, along, is_aside=True, fills=fills)


@frozen
class Nest:
    """Loops over axes, the outermost first, and what each turn of the innermost one touches."""

    axes: Mapping[str, int | Blocks]
    spans: tuple[Span, ...]
    forward: bool = False
    """Whether the innermost loop runs forward even in a backward kernel: sums of floats depend on the order."""

    def along(self, span: Span) -> Along:
        """Return how a span moves along all axes."""
        if span.along:
            return span.along
        along, step = dict[str, int | Under](), span.size
        for name, axis in reversed([*self.axes.items()]):
            along[name] = step
            step *= _size(axis)
        return along

    def parts(self, operands: Sequence[Operand], outside: int = 0, *, aside: bool) -> Iterator[Part]:
        """Yield the turns that take equally many indices, inside so many common loops.

        They touch either what is aside, or all else.
        """
        spans = [span for span in self.spans if aside == (span.is_aside or isinstance(span.operand, Derived))]
        innermost = [0, *self.axes.values()][-1]
        for run in innermost.runs() if isinstance(innermost, Blocks) else [_ONE_BY_ONE]:
            loops = tuple(run.turns if isinstance(axis, Blocks) else axis for axis in self.axes.values())
            places = ((span, at) for span in spans for at, operand in enumerate(operands) if operand == span.operand)
            yield Part(loops[outside:], tuple(self._touch(*place, run) for place in places), self.forward)

    def _touch(self, span: Span, operand: int, run: _Run) -> Touch:
        along, size, start, strides, windows = self.along(span), span.size, span.start, list[int](), []
        for loop, (name, axis) in enumerate(self.axes.items()):
            step = along.get(name, 0)
            if isinstance(step, Under):
                windows.append(step.slide.over(loop, step.pitch))
                step = 0
            elif isinstance(axis, Blocks) and step == span.size:
                size, start = size * (axis.block if span.fills else run.lanes), start + run.first * step
                step *= run.lanes
            elif isinstance(axis, Blocks) and step:  # what a block touches does not lie side by side
                windows.append(Window(loop, step, axis.size, run.lanes, run.lanes, before=-run.first))
                step = 0
            strides.append(step)
        return Touch(operand, size, tuple(strides), start, tuple(windows), span.writes, span.rows)

    def of_row(self) -> Nest:
        """Return the nest inside a row."""
        axes = {name: axis for name, axis in self.axes.items() if name not in _AROUND_ROW}
        spans = (
            replace(span, along={name: step for name, step in self.along(span).items() if name in axes} or _NOWHERE)
            for span in self.spans
        )
        return replace(self, axes=axes, spans=tuple(spans))


_AROUND_ROW = "images", "rows"
"""The axes whose loops the generated code runs around the call for a row."""
_NOWHERE: Along = MappingProxyType({"": 0})


@frozen
class InTurn:
    """Several nests, one after the other."""

    nests: tuple[Nest, ...]
    shared: int = 0
    """Number of axes, the outermost of each nest, whose loops are around all of them."""
    phases: bool = False
    """Whether each needs the results of the one before it, backward, too."""

    def accesses(self, operands: Sequence[Operand], widths: Sequence[int], form: Form) -> Accesses:
        """Return the accesses of one call of a form; `widths` are bytes of an element of each operand."""
        nests = [nest.of_row() for nest in self.nests] if isinstance(form, Rows) else self.nests
        shared = max(0, len(nests[0].axes) - 1) if len(nests) == 1 else self.shared
        parts = [part for nest in nests for part in nest.parts(operands, shared, aside=False) if part.touches]
        touched = {touch.operand for part in parts for touch in part.touches}
        overlapping = (width if position in touched else 0 for position, width in enumerate(widths))
        loops = tuple(_size(axis) for axis in [*nests[0].axes.values()][:shared])
        return Accesses(tuple(parts), tuple(overlapping), loops, self.phases)

    def traffic_aside(self, operands: Sequence[Operand], widths: Sequence[int]) -> dict[int, Traffic]:
        """Return the traffic of operands that overlap nothing, by position, in all turns."""
        moved = dict[int, Traffic]()
        for nest in self.nests:
            for part in nest.parts(operands, aside=True):
                for touch in part.touches:
                    size = widths[touch.operand] * elements(touch, part.loops)
                    more = Traffic(written=size) if touch.writes else Traffic(size)
                    moved[touch.operand] = moved.get(touch.operand, Traffic()) + more
        return moved


def rows_of(nest: Nest, *, untyped: bool = False, numbered: bool = False) -> Rows:
    """Return the loop over the rows of a nest, whose first operand is under a window of rows."""
    images, rows = (_size(nest.axes[name]) for name in _AROUND_ROW)
    under, step = nest.along(nest.spans[0])["rows"], nest.along(nest.spans[-1])["rows"]
    assert isinstance(under, Under)
    assert isinstance(step, int)
    slide = under.slide.as_rows()
    return Rows(
        images,
        rows,
        slide.size,
        under.pitch,
        step,
        slide.window,
        slide.stride,
        slide.dilation,
        slide.before,
        untyped,
        slide.repeat,
        slide.phase,
        numbered,
    )


def kernel(
    node: Node,
    function: str,
    nest: Nest | InTurn,
    fields: Fields,
    *,
    struct: str = "",
    form: Form | None = None,
    operands: tuple[Operand, ...] = (),
    constants: tuple[Constant, ...] = (),
    scratch: tuple[ScratchRequest, ...] = (),
    moved: Moved = MappingProxyType({}),
    updates: frozenset[int] = frozenset(),
) -> Kernel:
    """Return the kernel of one call, a single one for everything unless a form is given.

    Nests of a reduction are those of begin, row and finish.  The struct has the name of the function without "row",
    and operands have the order in which the nest names them, unless they are given.
    """
    operands = operands or _operands(nest)
    widths = [_width(node, operand, constants, scratch) for operand in operands]
    call = _call(function, nest, fields, struct, form or Whole(), operands, widths, moved)
    return Kernel((call,), constants, scratch, updates=updates)


def call_in_bytes(
    function: str, nest: Nest | InTurn, fields: Fields, moved: Moved = MappingProxyType({})
) -> KernelCall:
    """Return the call of a function that moves elements of any type: those of the nest are bytes."""
    operands = _operands(nest)
    return _call(function, nest, fields, "", Whole(), operands, [1] * len(operands), moved)


def _call(
    function: str,
    nest: Nest | InTurn,
    fields: Fields,
    struct: str,
    form: Form,
    operands: tuple[Operand, ...],
    widths: Sequence[int],
    moved: Moved,
) -> KernelCall:
    in_turn = nest if isinstance(nest, InTurn) else InTurn((nest,))
    traffic = in_turn.traffic_aside(operands, widths)
    traffic |= {position: moved[operand] for position, operand in enumerate(operands) if operand in moved}
    traffic |= {i: Traffic() for i, operand in enumerate(operands) if operand in operands[:i]}
    accesses = in_turn.accesses(operands, widths, form)
    parameters = Parameters(struct or f"{function.removesuffix('_row')}_parameters", fields)
    return KernelCall(function, form, operands, parameters, traffic, accesses=accesses)


def _operands(nest: Nest | InTurn) -> tuple[Operand, ...]:
    nests = nest.nests if isinstance(nest, InTurn) else (nest,)
    return tuple(dict.fromkeys(span.operand for each in nests for span in each.spans))


def _size(axis: int | Blocks) -> int:
    return axis.size if isinstance(axis, Blocks) else axis


def _width(node: Node, operand: Operand, constants: Sequence[Constant], scratch: Sequence[ScratchRequest]) -> int:
    """Return the bytes of an element."""
    match operand:
        case Input() | Output():
            return node.tensor(operand).dtype.bits // 8
        case Derived(position):
            return constants[position].dtype.bits // 8
        case Scratch(position):
            return scratch[position].dtype.bits // 8
    return 0
