"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.

Where the input rows of an output row are under a window, as in images of twice the height, they go row by row.
Places are those of TensorFlow Lite Micro: in units of 1/1024 of a pixel for bilinear integers, and else in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import gcd
from typing import NamedTuple, TypeAlias

import numpy as np

from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, Output, Rows, Traffic, Value
from usmp_build.ir.graph import DType
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Fields, InTurn, Nest, kernel, reads, rows_of, writes
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.portable.copies import check_types
from usmp_build.kernels.window import Slide
from usmp_build.operators.resizing import ResizeBilinear, ResizeNearest

_MOST_PIXELS = (1 << 15) - 1
"""Along an axis: places and columns are counted with 16 bits."""
_MOST_PARTS = 1 << 10
"""Turns that accesses declare one by one."""
_TYPES = {DType.INT8, DType.INT16, DType.FLOAT32}
"""Of bilinear functions."""
_UNIT = 1024
"""Of places of integers in a pixel."""

Options: TypeAlias = ResizeBilinear | ResizeNearest


@frozen
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
    rows, columns = (_nearest(*sizes, options) for sizes in (image.heights, image.widths))
    width = node.output.dtype.bits // 8
    tables = [_table("columns", columns.pixels)]
    fields: Fields = (("output_width", image.widths[1]), ("size", image.channels * width))
    loops = _loops(image, rows, columns, 1, image.channels)
    lines = image.images * image.heights[1]
    if loops.form is None:
        tables.append(_table("rows", rows.pixels))
        fields = (("lines", lines), *_sizes(image), ("size", image.channels * width))
    name = "resize_nearest" if loops.form is None else "resize_nearest_row"
    return kernel(
        node,
        name,
        loops.nest,
        fields,
        struct=f"{name}_parameters",
        form=replace(loops.form, untyped=True) if loops.form else None,
        operands=(Input(0), *map(Derived, range(len(tables))), Output(0)),
        constants=tuple(tables),
        moved={Derived(0): Traffic(2 * lines * image.widths[1]), Derived(1): Traffic(2 * lines)},
    )


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
    loops = _loops(image, rows.places, columns.places, 2, 1)
    return kernel(
        node,
        c_name("resize_bilinear", source.dtype, part="" if loops.form is None else "row"),
        loops.nest,
        (("lines", image.images * image.heights[1]), *_sizes(image), ("channels", image.channels), *fields),
        struct=struct,
        form=replace(loops.form, numbered=True) if loops.form else None,
        operands=(Input(0), Output(0)),
        moved={Input(0): Traffic(4 * output.size)},
    )


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
    pixels, of_output = _slope(before, after, options)
    scale: np.float32 = np.float32(pixels) / np.float32(of_output)
    return scale


class Places(NamedTuple):
    """Where the pixels of an output are in the input, along an axis."""

    pixels: Sequence[int]
    """The pixel before each place, -1 for places before the first one; none if that depends on how C rounds."""
    slope: tuple[int, int]
    """How many pixels further they are (about, for they are rounded) after how many of the output."""


def _slope(before: int, after: int, options: Options) -> tuple[int, int]:
    less = int(options.align_corners and after > 1)
    return before - less, after - less


def _nearest(before: int, after: int, options: ResizeNearest) -> Places:
    """Return the pixel of the input that is nearest to each of the output, along an axis."""
    center = np.float32(0.5 if options.half_pixel_centers else 0)
    places = (np.arange(after, dtype=np.float32) + center) * _scale(before, after, options)
    whole = np.floor(places.astype(np.float64) + (0.5 if options.align_corners else 0))
    pixels = [int(place) for place in np.clip(whole, 0, before - 1)]
    return Places(pixels, _slope(before, after, options))


class _Axis(NamedTuple):
    """What C needs to know of an axis, and what it makes of it."""

    scale: Value
    offset: Value
    places: Places


def _fixed(before: int, after: int, options: ResizeBilinear) -> _Axis:
    pixels, of_output = _slope(before, after, options)
    scale = (_UNIT * pixels + of_output // 2) // of_output
    offset = scale // 2 - _UNIT // 2 if options.half_pixel_centers else 0
    places = [min((i * scale + offset) // _UNIT, before - 1) for i in range(after)]
    return _Axis(scale, offset, Places(places, (scale, _UNIT)))


def _real(before: int, after: int, options: ResizeBilinear) -> _Axis:
    """C may round once or twice, as it likes: processors may add to products."""
    scale, center = _scale(before, after, options), np.float32(0.5 if options.half_pixel_centers else 0)
    moved = np.arange(after, dtype=np.float32) + center
    twice = np.floor(moved * scale - center)
    once = np.floor((moved.astype(np.float64) * float(scale) - float(center)).astype(np.float32))
    places = np.minimum(twice, before - 1).astype(int).tolist() if (once == twice).all() else []
    return _Axis(float(scale), float(center), Places(places, _slope(before, after, options)))


def slide_over(places: Places, size: int, window: int) -> Slide | None:
    """Return the window that is at these places of an axis of `size` pixels; None if they do not lie on a line.

    >>> slide_over(Places([-1, 0, 0, 1, 1, 2], (3, 6)), 3, 2)
    Slide(size=3, output=6, window=2, stride=1, dilation=1, before=1, repeat=2, phase=1, is_transposed=False)
    """
    pixels, (rise, run) = places
    common = gcd(rise, run)
    stride, repeat = (rise // common, run // common) if rise else (1, len(pixels))
    start = max((place * repeat - i * stride for i, place in enumerate(pixels)), default=0)
    if any((i * stride + start) // repeat != place for i, place in enumerate(pixels)):
        return None
    return Slide(size, len(pixels), window, stride, before=-(start // repeat), repeat=repeat, phase=start % repeat)


class _Loops(NamedTuple):
    """How the pixels of an output are made: row by row if there is a form, else all at once."""

    nest: InTurn
    form: Rows | None


class _Reads(NamedTuple):
    """Pixels along an axis that are read for one pixel of the output."""

    output: int
    pixels: tuple[int, ...]


_UNDER_WINDOW = _Reads(0, (0,))
"""In a loop: what is read is under a window that moves."""


def _loops(image: _Image, rows: Places, columns: Places, taps: int, run: int) -> _Loops:
    """Return the loops of a function: a turn reads `taps` pixels of `taps` rows, `run` elements of each.

    Pixels that are on no line are declared one by one.  Where these are too many, no read is declared.
    """
    (height, new_height), (width, new_width), pixel = image.heights, image.widths, image.channels
    down, ys = _along(rows, height, taps, is_row=True)
    across, xs = _along(columns, width, taps)
    row, new_row = width * pixel, new_width * pixel
    slides = ("rows", down, row), ("pixels", across, pixel)
    windows = {name: slide.under(step) for name, slide, step in slides if slide is not None}
    axes = {"images": image.images, "rows": new_height, "pixels": new_width, "channels": pixel // run}
    read = reads(Input(0), run, {"images": height * row, "channels": run, **windows})
    places = {"images": new_height * new_row, "rows": new_row, "pixels": pixel, "channels": run}
    written = writes(Output(0), run, places)
    form = rows_of(Nest(axes, (read, written))) if down else None
    if not 0 < len(ys) * len(xs) <= _MOST_PARTS:
        return _Loops(InTurn((Nest(axes, (written,)),)), form)
    loops = {name: size for name, size in axes.items() if name in windows or name not in ("rows", "pixels")}
    nests = []
    for y, x in product(ys, xs):
        starts = (above * row + left * pixel for above, left in product(y.pixels, x.pixels))
        begin = y.output * new_row + x.output * pixel
        nests.append(Nest(loops, (*(replace(read, start=start) for start in starts), replace(written, start=begin))))
    return _Loops(InTurn(tuple(nests), shared=0 if down else 1), form)


def _along(places: Places, size: int, taps: int, *, is_row: bool = False) -> tuple[Slide | None, list[_Reads]]:
    """Return the window at the places of an axis, or what each pixel of the output reads."""
    slide = slide_over(places, size, taps) if places.pixels else None
    if slide is None or (is_row and slide.before < 0):
        return None, _one_by_one(places.pixels, taps, size)
    return slide, [_UNDER_WINDOW]


def _one_by_one(pixels: Sequence[int], taps: int, size: int) -> list[_Reads]:
    """Return what each pixel of the output reads, of an axis of `size` pixels; nothing where that is not known."""
    return [
        _Reads(i, tuple(sorted({min(max(place + tap, 0), size - 1) for tap in range(taps)})))
        for i, place in enumerate(pixels)
    ]


def _table(name: str, places: Sequence[int]) -> Constant:
    return Constant(name, DType.INT16, np.array(places, "<i2").tobytes())
