"""Finds dilated convolutions that are written as convolutions of images of every second, or nth, pixel.

    %3 = SPACE_TO_BATCH_ND(%1, [2, 2], borders)          four images, each of pixels with one place in their blocks
    %4 = CONV_2D(%3, ...)
    %5 = BATCH_TO_SPACE_ND(%4, [2, 2], crops)       =    CONV_2D(PADV2(%1, borders - crops), ...) dilation_h=2 ...

Signals have blocks of samples, and a view on either side of the convolution:

    SPACE_TO_BATCH_ND [2, 50, 8], RESHAPE [2, 1, 50, 8], CONV_2D [2, 1, 48, 8], RESHAPE, BATCH_TO_SPACE_ND [1, 96, 8]

Borders are of 0, which need not be the zero point, so they become a PADV2, without what it pads for outputs that are
cut off; where it is exact, it becomes a frame (`pads.py`).  What the convolution itself pads, it pads around each of
the images: that is a frame which is as many times as wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import NamedTuple, TypeAlias

from usmp_build.arithmetic import windows
from usmp_build.ir.graph import Operator, Tensor
from usmp_build.ir.options import Padding
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.edit import Net

Shape: TypeAlias = tuple[int, ...]
Ends: TypeAlias = tuple[int, int]
"""Pixels before and after an image, along an axis."""


class _Block(NamedTuple):
    """A block along an axis, and the border that is around the image or cut off."""

    size: int = 1
    border: Ends = (0, 0)


class _Window(NamedTuple):
    """A window along an axis of the images of a block's pixels."""

    taps: int
    dilation: int
    stride: int
    padding: Ends


class _Axis(NamedTuple):
    """A dilated convolution along an axis."""

    size: int
    """Pixels of the image."""
    border: Ends
    """Pixels of 0 around it."""
    frame: Ends
    """Pixels around these that add nothing to sums."""
    dilation: int
    places: int
    """Of the window."""


class _Group(NamedTuple):
    """The operators that are one, besides views."""

    first: Operator
    convolution: Operator
    last: Operator

    def sides(self, net: Net) -> tuple[list[Tensor], list[Tensor]]:
        """Return the tensors from what is read to what is convolved, and from what that makes to what is written."""
        read = [net.graph.tensors[op.inputs[0] or 0] for op in self]
        written = [net.graph.tensors[op.outputs[0]] for op in self]
        return [read[0], written[0], read[1]], [written[1], read[2], written[2]]


def dilations(net: Net) -> None:
    """Replace the operators from a SPACE_TO_BATCH_ND to a BATCH_TO_SPACE_ND."""
    for last, op in enumerate(net.operators):
        places = [*_backward(last, net)][::-1] if op is not None and op.kind == "BATCH_TO_SPACE_ND" else []
        operators = [op for op in map(net.operators.__getitem__, places) if op is not None]
        match [op for op in operators if not traits(op.kind).only_shape]:
            case [Operator(kind="SPACE_TO_BATCH_ND"), _, _] as running:
                group = _Group(*running)
                axes = _axes(group, net)
                if axes:
                    net.exchange(places, [*_dilated(group, axes, net)])


def _backward(place: int, net: Net) -> Iterator[int]:
    """Yield places up to that of a SPACE_TO_BATCH_ND, each of what makes the first operand of the one before."""
    op = last = net.operators[place]
    while op is not None and last is not None and net.pins.may_join(net.index, op, last):
        yield place
        source = op.inputs[0] if op.inputs and op.kind != "SPACE_TO_BATCH_ND" else None
        if source is None or not net.may_go(source) or len(net.readers[source]) > 1:
            return
        op, place = net.producer(source), net.writers.get(source, place)


def _axes(group: _Group, net: Net) -> list[_Axis]:
    """Return the dilated convolution along rows and columns; empty if there is none that computes the same."""
    (source, small, image), (made, joined, output) = group.sides(net)
    blocks, cuts = _blocks(group.first, small, image, net), _blocks(group.last, joined, made, net)
    if not blocks or not cuts or not _treats_images_alike(group, net):
        return []
    sides = zip(blocks, cuts, image.shape[1:3], _windows(group, net), strict=False)
    axes = [axis for side in sides if (axis := _along(*side)) is not None]
    images = image.shape[0] // prod(block.size for block in blocks)
    read = images * prod(axis.size for axis in axes) * image.shape[-1]
    written = images * prod(axis.places for axis in axes) * made.shape[-1]
    return axes if len(axes) == len(blocks) and (read, written) == (source.elements, output.elements) else []


def _blocks(op: Operator, batches: Tensor, image: Tensor, net: Net) -> list[_Block]:
    """Return the blocks along rows and columns of an image that a convolution has, or a view of it; none if unknown."""
    sizes, borders = net.integers(op, 1) or [], net.integers(op, 2) or []
    if len(borders) != 2 * len(sizes) or min((*sizes, *image.shape), default=0) < 1:
        return []
    ends = zip(borders[::2], borders[1::2], strict=True)
    blocks = [_Block(size, pair) for size, pair in zip(sizes, ends, strict=True)]
    images, *inner, channels = batches.shape
    if len(inner) == 2 and batches.shape == image.shape:
        return {1: [*blocks, _Block()], 2: blocks}.get(len(blocks), [])
    shapes = {(images, *inner, 1, channels): [*blocks, _Block()], (images, 1, *inner, channels): [_Block(), *blocks]}
    return shapes.get(image.shape, []) if len(inner) == len(blocks) == 1 else []


def _treats_images_alike(group: _Group, net: Net) -> bool:
    """Tell whether nothing changes scales, and the convolution does not make a scale for each image of floats."""
    weights = net.tensor(group.convolution.inputs[1]) if len(group.convolution.inputs) > 1 else None
    types = [{(tensor.dtype, tensor.quantization) for tensor in side} for side in group.sides(net)]
    if weights is None or len(weights.shape) != 4 or any(len(each) > 1 for each in types):
        return False
    dtype = net.graph.tensors[group.convolution.outputs[0]].dtype
    return not dtype.is_float or weights.dtype is dtype


def _windows(group: _Group, net: Net) -> list[_Window]:
    """Return what slides along the rows and columns of the images; none if that is no convolution."""
    op, options = group.convolution, group.convolution.options
    if not isinstance(options, Conv2D | DepthwiseConv2D):
        return []
    image, weights = (net.graph.tensors[index or 0].shape for index in op.inputs[:2])
    of_axes = (options.stride_h, options.dilation_h), (options.stride_w, options.dilation_w)
    frame: tuple[int, ...] = options.frame or ()
    windows_of_axes = []
    for at, (stride, dilation) in enumerate(of_axes):
        taps, same = weights[1 + at], options.padding is Padding.SAME
        padding = windows.same_padding(image[1 + at], windows.reach(taps, dilation), stride) if same else (0, 0)
        before, after = frame[2 * at : 2 * at + 2] or padding
        windows_of_axes.append(_Window(taps, dilation, stride, (before, after)))
    return windows_of_axes


def _along(block: _Block, cut: _Block, size: int, window: _Window) -> _Axis | None:
    """Return the convolution of a whole image, of whose blocks each pixel is in an image of `size` pixels.

    What is cut off is not padded: neither by the convolution itself, nor then in the border.
    """
    if block.size != cut.size or (window.stride > 1 and (block, cut) != (_Block(), _Block())):
        return None
    room = [block.size * mine - less for mine, less in zip(window.padding, cut.border, strict=True)]
    above, below = (given + min(0, each) for given, each in zip(block.border, room, strict=True))
    whole, frame = size * block.size - sum(block.border), (max(0, room[0]), max(0, room[1]))
    dilation = block.size * window.dilation
    reach, padded = windows.reach(window.taps, dilation), above + whole + below
    places = windows.places_in_frame(padded, frame, reach, window.stride)
    fits = min(above, below) >= 0 < whole and windows.sees_pixels(padded, frame[0], places, reach, window.stride)
    return _Axis(whole, (above, below), frame, dilation, places) if fits else None


def _dilated(group: _Group, axes: list[_Axis], net: Net) -> Iterator[Operator]:
    """Yield the operators that compute the same: besides the convolution a padding, and views."""
    down, across = axes
    options, source, output = group.convolution.options, group.first.inputs[0] or 0, group.last.outputs[0]
    assert isinstance(options, Conv2D | DepthwiseConv2D)
    image = replace(net.graph.tensors[source], shape=_with(net.graph.tensors[source], down.size, across.size))
    result = replace(net.graph.tensors[output], shape=_with(net.graph.tensors[output], down.places, across.places))
    if image.shape != net.graph.tensors[source].shape:
        yield Operator("RESHAPE", (source,), (source := net.add(image),))
    if any((*down.border, *across.border)):
        borders = net.add_numbers("borders", [(0, 0), down.border, across.border, (0, 0)])
        zero = net.add(Tensor("zero", (1,), image.dtype, image.quantization, bytes(image.dtype.bits // 8)))
        padded = replace(image, shape=_with(image, down.size + sum(down.border), across.size + sum(across.border)))
        yield Operator("PADV2", (source, borders, zero), (source := net.add(padded),))
    frame = (*down.frame, *across.frame)
    options = replace(
        options,
        padding=Padding.VALID,
        frame=frame if any(frame) else None,
        dilation_h=down.dilation,
        dilation_w=across.dilation,
    )
    is_image = result.shape == net.graph.tensors[output].shape
    made = output if is_image else net.add(result)
    yield replace(group.convolution, inputs=(source, *group.convolution.inputs[1:]), outputs=(made,), options=options)
    if not is_image:
        yield Operator("RESHAPE", (made,), (output,))


def _with(tensor: Tensor, rows: int, columns: int) -> Shape:
    return tensor.shape[0], rows, columns, tensor.shape[-1]
