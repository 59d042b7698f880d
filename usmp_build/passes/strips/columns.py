"""Which columns of its inputs an operator needs for some columns of its output.

    3x3, stride 2, an image of 12 columns     output 2 .. 3   needs   3 .. 7
                                              output 0 .. 1   needs   0 .. 3, and one column outside of the image

What is outside of the image is padding, as before; columns beside a strip are none, and belong to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from usmp_build.arithmetic import windows
from usmp_build.frozen import frozen
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.options import Frame, Options, Padding
from usmp_build.operators.joining import Concatenation
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.reductions import Reducer
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D
from usmp_build.operators.table import traits

_RANK = 4
"""Of an image: batch, row, column, channel."""
ACROSS = 2
"""The axis of the columns."""


def hull(one: range, other: range) -> range:
    """Return the columns from the first to the last of both."""
    return range(min(one.start, other.start), max(one.stop, other.stop))


def spans(width: int, strips: int) -> list[range]:
    """Return the columns of each strip.

    >>> spans(10, 3)
    [range(0, 3), range(3, 6), range(6, 10)]
    """
    return [range(width * n // strips, width * (n + 1) // strips) for n in range(strips)]


class _Window(NamedTuple):
    """A window along one axis."""

    reach: int
    stride: int
    before: int
    """Pixels by which it hangs over the image at its first place."""
    after: int
    """The same at its last place."""

    @property
    def is_inside(self) -> bool:
        """Whether it never hangs over the image."""
        return not (self.before or self.after)

    def span(self, places: range) -> range:
        """Return the pixels under the window at these places, also those outside of the image."""
        first = places.start * self.stride - self.before
        return range(first, first + (len(places) - 1) * self.stride + self.reach)


@frozen
class Columns:
    """How an operator goes across its images: each column of the output needs a few of each input."""

    width: int
    """Columns of the output."""
    images: Mapping[int, int]
    """Position of an input that is an image → its columns."""
    window: _Window | None
    """None: a column needs the same column of all images."""
    rows: _Window | None
    """The same window from row to row."""
    adds_up: bool = False
    """Whether the window covers all rows, so that none has to wait for others."""

    def needed(self, position: int, output: range) -> range:
        """Return the columns of an input that these columns of the output need."""
        if self.window is None:
            return output
        span = self.window.span(output)
        return range(max(0, span.start), min(self.images[position], span.stop))

    @property
    def rows_taken(self) -> int:
        """The rows of an image that each row of the output is the first to need."""
        return 1 if self.rows is None or self.adds_up else self.rows.stride

    def rows_between(self, row: int) -> tuple[int, int]:
        """Return the last row of an image that a row of the output needs, and the first one that the next row does."""
        if self.rows is None or self.adds_up:
            return row, row + 1
        first = row * self.rows.stride - self.rows.before
        return first + self.rows.reach - 1, first + self.rows.stride

    def of_strip(self, options: Options | None, output: range) -> Options | None:
        """Return the options with which an operator computes these columns of its output from what they need."""
        if self.window is None or self.rows is None or not isinstance(options, Conv2D | DepthwiseConv2D | Pool2D):
            return options
        span = self.window.span(output)
        across = max(0, -span.start), max(0, span.stop - self.images[0])
        frame: Frame = (self.rows.before, self.rows.after, *across)
        is_framed = options.frame is not None or any(frame)
        return replace(options, padding=Padding.VALID, frame=frame if is_framed else None)


def columns(op: Operator, graph: Subgraph) -> Columns | None:
    """Return how an operator goes across images; None if it needs whole rows, and makes some."""
    if len(op.outputs) != 1 or not op.runs:
        return None
    if isinstance(op.options, Reducer):
        return _reduced(op, graph)
    if len(graph.tensors[op.outputs[0]].shape) != _RANK:
        return None
    if isinstance(op.options, Conv2D | DepthwiseConv2D | Pool2D):
        return _windowed(op, op.options, graph)
    return _column_by_column(op, graph)


def _reduced(op: Operator, graph: Subgraph) -> Columns | None:
    """Return how a MEAN, or the like, makes one pixel of an image: it takes row after row."""
    source, axes = (None if t is None else graph.tensors[t] for t in op.inputs[:2])
    if source is None or source.is_constant or len(source.shape) != _RANK:
        return None
    if axes is None or not axes.is_constant or axes.is_withheld:
        return None
    if {int(axis) % _RANK for axis in axes.as_array().ravel()} != {1, ACROSS}:
        return None
    down, across = (_Window(size, 1, 0, 0) for size in source.shape[1:3])
    return Columns(1, {0: source.shape[ACROSS]}, across, down, adds_up=True)


_ALONE = frozenset({"DEQUANTIZE", "LOOKUP", "QUANTIZE"})
"""Kinds that make each element of one, beside those that are elementwise."""


def _column_by_column(op: Operator, graph: Subgraph) -> Columns | None:
    is_joined = isinstance(op.options, Concatenation) and op.options.axis in {_RANK - 1, -1}
    if traits(op.kind).elementwise is None and op.kind not in _ALONE and not is_joined:
        return None
    output = graph.tensors[op.outputs[0]].shape
    images = {}
    for position, index in enumerate(op.inputs):
        tensor = None if index is None else graph.tensors[index]
        if tensor is None or (tensor.is_constant and tensor.shape[-ACROSS:-1] in {(), (1,)}):
            continue
        if tensor.is_constant or tensor.is_variable or tensor.shape[:-1] != output[:-1]:
            return None
        images[position] = tensor.shape[ACROSS]
    return Columns(output[ACROSS], images, None, None)


def _windowed(op: Operator, options: Conv2D | DepthwiseConv2D | Pool2D, graph: Subgraph) -> Columns | None:
    source, *constants = (None if t is None else graph.tensors[t] for t in op.inputs)
    if source is None or source.is_constant or source.is_variable or not traits(op.kind).extended:
        return None
    taken = _taps(options, source, constants)
    if taken is None:
        return None
    image, output = source.shape[1:3], graph.tensors[op.outputs[0]].shape[1:3]
    strides = options.stride_h, options.stride_w
    given = (options.frame[:2], options.frame[2:]) if options.frame else (None, None)
    axes = zip(image, output, *taken, strides, given, strict=True)
    down, across = (_window(options.padding, *each) for each in axes)
    if not (down.is_inside and across.is_inside) and not _may_have_frame(op, options, source):
        return None
    return Columns(output[1], {0: image[1]}, across, down, adds_up=output[0] == 1)


_Pair = tuple[int, int]


def _taps(
    options: Conv2D | DepthwiseConv2D | Pool2D, source: Tensor, constants: Sequence[Tensor | None]
) -> tuple[_Pair, _Pair] | None:
    """Return the taps of a window and their dilations, down and across; None if they depend on more than the window."""
    if isinstance(options, Pool2D):
        return (options.filter_h, options.filter_w), (1, 1)
    if not constants or constants[0] is None or not _is_plain(source, constants):
        return None
    _, high, wide, _ = constants[0].shape
    return (high, wide), (options.dilation_h, options.dilation_w)


def _may_have_frame(op: Operator, options: Conv2D | DepthwiseConv2D | Pool2D, source: Tensor) -> bool:
    """Tell whether kernels treat a frame as padding: pixels of a frame count for a mean."""
    if not isinstance(options, Pool2D):
        return True
    return source.dtype is not DType.INT16 and (op.kind == "MAX_POOL_2D" or options.frame is not None)


def _is_plain(source: Tensor, constants: Sequence[Tensor | None]) -> bool:
    """Tell whether weights are constant, and nothing follows from all of the image, as scales at run time do."""
    are_constant = all(tensor is None or tensor.is_constant for tensor in constants)
    weights = constants[0] if constants else None
    return are_constant and weights is not None and weights.dtype.is_float == source.dtype.is_float


def _window(
    padding: Padding, size: int, places: int, taps: int, dilation: int, stride: int, frame: tuple[int, int] | None
) -> _Window:
    reach = windows.reach(taps, dilation)
    before = frame[0] if frame else 0 if padding is Padding.VALID else windows.same_padding(size, reach, stride)[0]
    return _Window(reach, stride, before, max(0, (places - 1) * stride + reach - before - size))
