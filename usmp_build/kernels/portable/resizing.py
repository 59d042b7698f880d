"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.

Where the input rows of an output row follow a `Line`, as in images of twice the height, they go row by row.
Places are those of TensorFlow Lite Micro: in units of 1/1024 of a pixel for bilinear integers, and else in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window
from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Output,
    Parameters,
    Rows,
    Traffic,
    Value,
    Whole,
)
from usmp_build.ir.graph import DType
from usmp_build.kernels.names import c_name
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.portable.copies import check_types
from usmp_build.operators.resizing import ResizeBilinear, ResizeNearest

_MOST_PIXELS = (1 << 15) - 1
"""Along an axis: places and columns are counted with 16 bits."""
_MOST_PARTS = 1 << 10
"""Turns that accesses declare one by one."""
_TYPES = {DType.INT8, DType.INT16, DType.FLOAT32}
"""Of bilinear functions."""
_UNIT = 1024
"""Of places of integers in a pixel."""

Fields: TypeAlias = tuple[tuple[str, Value], ...]
Options: TypeAlias = ResizeBilinear | ResizeNearest


class Line(NamedTuple):
    """A row of integers: `(i + phase) / repeat * stride - before`, rounded down before it is multiplied."""

    repeat: int
    stride: int
    phase: int
    before: int

    def at(self, index: int) -> int:
        """Return an integer of the row."""
        return (index + self.phase) // self.repeat * self.stride - self.before


@dataclass(frozen=True)
class _Image:
    """Sizes of both images, and what an output row takes."""

    images: int
    heights: tuple[int, int]
    """Of input and output."""
    widths: tuple[int, int]
    channels: int


def nearest(node: Node) -> Kernel:
    """RESIZE_NEAREST_NEIGHBOR: elements of any type."""
    check_types(node.input(0), node.output)
    image, options = _image(node), node.options(ResizeNearest)
    rows, columns = (_nearest_places(*sizes, options) for sizes in (image.heights, image.widths))
    width = node.output.dtype.bits // 8
    tables = [_table("columns", columns)]
    fields: Fields = (("output_width", image.widths[1]), ("size", image.channels * width))
    form = _by_rows(image, rows, 1, untyped=True)
    if form is None:
        tables.append(_table("rows", rows))
        fields = (("lines", image.images * image.heights[1]), *_sizes(image), ("size", image.channels * width))
    lines = image.images * image.heights[1]
    lookups = 2 * lines * image.widths[1]
    call = KernelCall(
        "resize_nearest" if form is None else "resize_nearest_row",
        Whole() if form is None else form,
        (Input(0), *map(Derived, range(len(tables))), Output(0)),
        Parameters("resize_nearest_parameters" if form is None else "resize_nearest_row_parameters", fields),
        {1: Traffic(lookups)} if form is not None else {1: Traffic(lookups), 2: Traffic(2 * lines)},
        accesses=_accesses(image, form, rows, columns, 1, image.channels, (width, *[0] * len(tables), width)),
    )
    return Kernel((call,), tuple(tables))


def bilinear(node: Node) -> Kernel:
    """RESIZE_BILINEAR: between the four pixels around a place, of which some may be the same."""
    source, output = node.input(0), node.output
    image, options = _image(node), node.options(ResizeBilinear)
    if source.dtype is not output.dtype or source.dtype not in _TYPES:
        raise unsupported_types(source, output)
    if options.align_corners and options.half_pixel_centers:
        raise Unsupported("it aligns corners and centers")
    of_axis = _fixed if source.dtype.is_integer else _real
    rows, columns = (of_axis(*sizes, options) for sizes in (image.heights, image.widths))
    struct = c_name("resize_bilinear", DType.FLOAT32, part="parameters")
    fields: Fields = (("row_scale", rows.scale), ("column_scale", columns.scale), ("center", rows.offset))
    if source.dtype.is_integer:
        struct = "resize_bilinear_parameters"
        fields = tuple(
            (f"{name}_{what}", value)
            for name, axis in (("row", rows), ("column", columns))
            for what, value in (("scale", axis.scale), ("offset", axis.offset))
        )
    form = _by_rows(image, rows.places, 2, numbered=True)
    width = output.dtype.bits // 8
    call = KernelCall(
        c_name("resize_bilinear", source.dtype, part="" if form is None else "row"),
        Whole() if form is None else form,
        (Input(0), Output(0)),
        Parameters(
            struct,
            (("lines", image.images * image.heights[1]), *_sizes(image), ("channels", image.channels), *fields),
        ),
        {0: Traffic(4 * output.size)},
        accesses=_accesses(image, form, rows.places, columns.places, 2, 1, (width, width)),
    )
    return Kernel((call,))


def _image(node: Node) -> _Image:
    source, output, sizes = node.streamed(), node.output, node.integers(1, "sizes")
    node.expect(len(source.shape) == len(output.shape) == 4, "does not make an image of four dimensions from another")
    expected = (source.shape[0], *sizes, source.shape[3])
    node.expect(output.shape == expected, f"makes an image of shape {list(expected)}, not {list(output.shape)}")
    (images, *before, channels), (_, *after, _) = source.shape, output.shape
    if max(*before, *after) > _MOST_PIXELS:
        raise Unsupported(f"it has more than {_MOST_PIXELS:,} rows or columns")
    heights, widths = zip(before, after, strict=True)
    return _Image(images, heights, widths, channels)


def _sizes(image: _Image) -> Fields:
    ends = zip(("input", "output"), image.heights, image.widths, strict=True)
    return tuple(
        (f"{end}_{axis}", size) for end, height, width in ends for axis, size in (("height", height), ("width", width))
    )


def _scale(before: int, after: int, options: Options) -> np.float32:
    """Return the pixels of the input from one pixel of the output to the next."""
    less = int(options.align_corners and after > 1)
    scale: np.float32 = np.float32(before - less) / np.float32(after - less)
    return scale


def _nearest_places(before: int, after: int, options: ResizeNearest) -> list[int]:
    """Return the pixel of the input that is nearest to each of the output, along an axis."""
    center = np.float32(0.5 if options.half_pixel_centers else 0)
    places = (np.arange(after, dtype=np.float32) + center) * _scale(before, after, options)
    whole = np.floor(places.astype(np.float64) + (0.5 if options.align_corners else 0))
    return [int(place) for place in np.clip(whole, 0, before - 1)]


class _Axis(NamedTuple):
    """Where the pixels of an output are in the input, along an axis."""

    scale: Value
    offset: Value
    places: list[int] | None
    """The pixel before each place, -1 for places before the first one; None if that depends on how C rounds."""


def _fixed(before: int, after: int, options: ResizeBilinear) -> _Axis:
    less = int(options.align_corners and after > 1)
    scale = (_UNIT * (before - less) + (after - less) // 2) // (after - less)
    offset = scale // 2 - _UNIT // 2 if options.half_pixel_centers else 0
    return _Axis(scale, offset, [min((i * scale + offset) // _UNIT, before - 1) for i in range(after)])


def _real(before: int, after: int, options: ResizeBilinear) -> _Axis:
    """C may round once or twice, as it likes: processors may add to products."""
    scale, center = _scale(before, after, options), np.float32(0.5 if options.half_pixel_centers else 0)
    moved = np.arange(after, dtype=np.float32) + center
    twice = np.floor(moved * scale - center)
    once = np.floor((moved.astype(np.float64) * float(scale) - float(center)).astype(np.float32))
    places = np.minimum(twice, before - 1).astype(int).tolist() if (once == twice).all() else None
    return _Axis(float(scale), float(center), places)


def line_of(places: Sequence[int]) -> Line | None:
    """Return the line on which integers lie; None if they do not.

    >>> line_of([-1, 0, 0, 1, 1, 2])
    Line(repeat=2, stride=1, phase=1, before=1)
    >>> line_of([0, 3, 6])
    Line(repeat=1, stride=3, phase=0, before=0)
    """
    steps = [i for i in range(1, len(places)) if places[i] != places[i - 1]] or [len(places)]
    repeat = steps[1] - steps[0] if len(steps) > 1 else max(steps[0], len(places) - steps[0])
    stride = places[steps[0]] - places[0] if steps[0] < len(places) else 1
    line = Line(repeat, stride, repeat - steps[0], -places[0])
    fits = line.phase >= 0 and stride > 0 and all(line.at(i) == place for i, place in enumerate(places))
    return line if fits else None


def _by_rows(
    image: _Image, places: Sequence[int] | None, window: int, *, untyped: bool = False, numbered: bool = False
) -> Rows | None:
    line = None if places is None else line_of(places)
    if line is None or line.before < 0:
        return None
    return Rows(
        image.images,
        image.heights[1],
        image.heights[0],
        image.widths[0] * image.channels,
        image.widths[1] * image.channels,
        window,
        line.stride,
        before=line.before,
        untyped=untyped,
        repeat=line.repeat,
        phase=line.phase,
        numbered=numbered,
    )


class _Reads(NamedTuple):
    """What is read along an axis: in all rounds of a loop over the output's pixels, or for one of these."""

    loop: int
    """Rounds of the loop; 0: there is none."""
    output: int
    """The pixel of the output, or the first one."""
    pixels: tuple[int, ...] = ()
    """Those that are read for it; empty: they are on the line."""


def _accesses(
    image: _Image,
    form: Rows | None,
    rows: Sequence[int] | None,
    columns: Sequence[int] | None,
    taps: int,
    run: int,
    widths: tuple[int, ...],
) -> Accesses:
    """Return the accesses of a row, or of all rows: a turn reads `taps` pixels of `taps` rows, `run` elements of each.

    Pixels that are on no line are declared one by one.  Where these are too many, no read is declared.
    """
    line = None if columns is None else line_of(columns)
    across = [_Reads(image.widths[1], 0)] if line else _one_by_one(columns, taps, image.widths[0])
    down = [_Reads(0, 0, (0,))] if form else _one_by_one(rows, taps, image.heights[0])
    is_declared = 0 < len(across) * len(down) <= _MOST_PARTS
    if not is_declared:
        across, down, line = [_Reads(image.widths[1], 0, (0,))], [_Reads(image.heights[1], 0, (0,))], None
    outer = () if form else (image.images,)
    parts = [_part(image, y, x, line, taps, run, len(widths) - 1, len(outer)) for y in down for x in across]
    if not is_declared:
        parts = [replace(part, touches=part.touches[-1:]) for part in parts]
    return Accesses(tuple(parts), widths, outer)


def _one_by_one(places: Sequence[int] | None, taps: int, size: int) -> list[_Reads]:
    """Return what each pixel of the output reads, of an axis of `size` pixels; nothing where that is not known."""
    return [
        _Reads(0, i, tuple(sorted({min(max(place + tap, 0), size - 1) for tap in range(taps)})))
        for i, place in enumerate(places or ())
    ]


def _part(image: _Image, y: _Reads, x: _Reads, line: Line | None, taps: int, run: int, output: int, outer: int) -> Part:
    """Return the turns of a row of the output, or of one of its pixels."""
    pixel = image.channels
    row, written_row = (width * pixel for width in image.widths)
    loops = (*(each.loop for each in (y, x) if each.loop), pixel // run)
    is_loop = bool(x.loop)
    windows: tuple[Window, ...] = ()
    if is_loop and line is not None:
        at = outer + bool(y.loop)
        windows = (Window(at, pixel, image.widths[0], taps, line.stride, 1, line.before, line.repeat, line.phase),)
    strides = (image.heights[0] * row,) * outer + (0,) * (len(loops) - 1) + (run,)
    reads = [
        Touch(0, run, strides, place * row + column * pixel, windows)
        for place in y.pixels
        for column in (x.pixels or (0,))
    ]
    pitches = (image.heights[1] * written_row,) * outer + (written_row,) * bool(y.loop) + (pixel,) * is_loop + (run,)
    written = Touch(output, run, pitches, y.output * written_row + x.output * pixel, writes=True)
    return Part(loops, (*reads, written))


def _table(name: str, places: Sequence[int]) -> Constant:
    return Constant(name, DType.INT16, np.array(places, "<i2").tobytes())


KERNELS: dict[str, Callable[[Node], Kernel]] = {"RESIZE_BILINEAR": bilinear, "RESIZE_NEAREST_NEIGHBOR": nearest}
