"""Fuses PAD into the following convolutions and poolings, as explicit padding (a frame around their image).

    %3 = PAD(%1, [[0, 0], [1, 1], [1, 1], [0, 0]])
    %4 = CONV_2D(%3, ...) padding=VALID                →    %4 = CONV_2D(%1, ...) frame=[1, 1, 1, 1]

This is exact if a pixel of the frame affects the output exactly like a pixel outside the image:

- for a convolution, nothing: the value is the zero point of the input, so that it adds 0 to every sum;
- for MAX_POOL_2D, nothing: the value is not larger than any possible maximum;
- for AVERAGE_POOL_2D, `outside` states the value, and that it counts.

The frame is the sum of the PAD's and the operator's own padding.  All readers of the padded image must take it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from usmp_build.arithmetic import windows
from usmp_build.arithmetic.limits import clamp, float_clamp, int8_scale, is_symmetric_int16
from usmp_build.ir.graph import DType, Model, Operator, Tensor
from usmp_build.ir.options import Frame, Padding
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.edit import Net, in_each_subgraph
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.passes.rewrite.ranges import value_range


def pads(model: Model, pins: Pins = NO_PINS) -> Model:
    """Turn paddings into frames, from the last one on: of two in a row, the second one first."""
    return in_each_subgraph(model, pins, _step)


def _step(net: Net) -> None:
    for place, op in reversed([*enumerate(net.operators)]):
        padded = _padded(op, net) if op and op.kind in {"PAD", "PADV2"} else None
        if op is None or padded is None or not net.may_go(padded.output):
            continue
        readers = sorted(net.readers[padded.output])
        fused = [_fused(index, op, padded, net) for index in readers]
        if fused and None not in fused:
            net.put(place, None)
            for index, reader in zip(readers, fused, strict=True):
                net.put(index, reader)


def _fused(place: int, pad: Operator, padded: Padded, net: Net) -> Operator | None:
    """Return a reader of the padded image with a frame; None if it may not or cannot have one."""
    reader = net.operators[place]
    may_join = reader is not None and net.pins.may_join(net.index, pad, reader)
    return framed(reader, padded, net) if reader is not None and may_join else None


def _padded(op: Operator, net: Net) -> Padded | None:
    """Return a PAD as data; None unless it pads rows and columns by constants."""
    if len(op.outputs) != 1 or len(op.inputs) < 2 or op.inputs[0] is None:
        return None
    source, output = net.graph.tensors[op.inputs[0]], net.graph.tensors[op.outputs[0]]
    numbers = net.integers(op, 1)
    if numbers is None or len(source.shape) != _IMAGE or len(numbers) != 2 * _IMAGE or source.is_constant:
        return None
    if (source.dtype, source.quantization) != (output.dtype, output.quantization):
        return None
    value = _value(op, net, source)
    if any((*numbers[:2], *numbers[6:])) or min(numbers) < 0 or value is None:
        return None
    top, bottom, left, right = numbers[2:6]
    images, height, width, channels = source.shape
    if output.shape != (images, top + height + bottom, left + width + right, channels):
        return None
    return Padded(op.inputs[0], op.outputs[0], (top, bottom, left, right), value)


def _value(op: Operator, net: Net, source: Tensor) -> float | None:
    """Return the padding value: an operand of PADV2; else 0, which for int8 is the zero point."""
    quantized = int8_scale(source)
    if quantized is None and source.dtype is not DType.FLOAT32 and not is_symmetric_int16(source):
        return None
    if op.kind == "PAD":
        return 0.0 if quantized is None else quantized[1]
    value = net.tensor(op.inputs[2]) if len(op.inputs) > 2 else None
    if value is None or not value.is_constant or value.is_withheld:
        return None
    if value.elements != 1 or value.dtype is not source.dtype:
        return None
    return float(value.as_array().ravel()[0])


_IMAGE = 4
"""Rank of an image: batch, row, column, channel."""
_LEAST_FLOAT = -float(np.finfo(np.float32).max)

Windowed: TypeAlias = Conv2D | DepthwiseConv2D | Pool2D


class Padded(NamedTuple):
    """A PAD of rows and columns."""

    source: int
    """The image."""
    output: int
    frame: Frame
    value: float
    """Value of the padding pixels; of int8, the quantized one."""


class _Axis(NamedTuple):
    """A window along one axis of an image."""

    size: int
    """Pixels of the image without padding."""
    places: int
    """Number of positions of the window."""
    reach: int
    """Pixels from the first to the last tap."""
    stride: int

    def implicit(self, options: Windowed, size: int) -> tuple[int, int]:
        """Return the padding that the operator itself adds before and after `size` pixels."""
        if options.padding is Padding.VALID:
            return 0, 0
        return windows.same_padding(size, self.reach, self.stride)

    def takes(self, before: int, after: int) -> bool:
        """Tell whether the window has as many positions in a frame as before, each with a pixel of the image."""
        places = windows.places_in_frame(self.size, (before, after), self.reach, self.stride)
        as_before = places > 0 and places == self.places
        return as_before and windows.sees_pixels(self.size, before, places, self.reach, self.stride)


def framed(reader: Operator, padded: Padded, net: Net) -> Operator | None:
    """Return an operator that reads the image without padding and computes the same; None if there is none."""
    options = reader.options
    if reader.inputs[0] != padded.output or reader.inputs.count(padded.output) != 1:
        return None
    if not traits(reader.kind).extended or not isinstance(options, Windowed) or len(reader.outputs) != 1:
        return None
    axes = _axes(reader, options, padded, net)
    whole = net.graph.tensors[padded.output].shape
    frame = _frame(options, axes, padded.frame, whole[1:3]) if axes else None
    if frame is None or not _is_exact(reader, options, padded, net):
        return None
    if isinstance(options, Pool2D):
        options = replace(options, outside=int(padded.value) if reader.kind == "AVERAGE_POOL_2D" else None)
    options = replace(options, padding=Padding.VALID, frame=frame)
    return replace(reader, inputs=(padded.source, *reader.inputs[1:]), options=options)


def _axes(reader: Operator, options: Windowed, padded: Padded, net: Net) -> tuple[_Axis, _Axis] | None:
    if isinstance(options, Pool2D):
        taps, dilations = (options.filter_h, options.filter_w), (1, 1)
    else:
        weights = net.tensor(reader.inputs[1]) if len(reader.inputs) > 1 else None
        if weights is None or len(weights.shape) != _IMAGE:
            return None
        taps, dilations = (weights.shape[1], weights.shape[2]), (options.dilation_h, options.dilation_w)
    image, output = net.graph.tensors[padded.source].shape, net.graph.tensors[reader.outputs[0]].shape
    strides = options.stride_h, options.stride_w
    if len(output) != _IMAGE or min(*taps, *dilations, *strides) < 1:
        return None
    down, across = map(_Axis, image[1:3], output[1:3], map(windows.reach, taps, dilations), strides)
    return down, across


def _frame(options: Windowed, axes: tuple[_Axis, _Axis], pads: Frame, whole: tuple[int, ...]) -> Frame | None:
    """Return the frame of both paddings together; None if kernels do not support it."""
    given = options.frame or ()
    ends = []
    for position, (axis, size) in enumerate(zip(axes, whole, strict=True)):
        padding = given[2 * position : 2 * position + 2] or axis.implicit(options, size)
        before, after = (
            mine + theirs for mine, theirs in zip(padding, pads[2 * position : 2 * position + 2], strict=True)
        )
        if not axis.takes(before, after):
            return None
        ends += [before, after]
    top, bottom, left, right = ends
    return top, bottom, left, right


def _is_exact(reader: Operator, options: Windowed, padded: Padded, net: Net) -> bool:
    """Tell whether a kernel treats pixels outside the image exactly like those of the padding."""
    if not isinstance(options, Pool2D):
        return _adds_nothing(reader, padded, net)
    if net.graph.tensors[padded.source].dtype is DType.INT16:
        return False
    if reader.kind == "MAX_POOL_2D":
        return padded.value <= _least_winner(reader, options, padded, net)
    return _counts_alike(reader, options, padded, net)


def _adds_nothing(reader: Operator, padded: Padded, net: Net) -> bool:
    """Tell whether padding pixels of a convolution add 0 to every sum."""
    source, weights = net.graph.tensors[padded.source], net.tensor(reader.inputs[1])
    if source.dtype is DType.INT16:
        return padded.value == 0
    quantized = int8_scale(source)
    if weights is None or quantized is not None:
        return quantized is not None and padded.value == quantized[1]
    is_finite = weights.is_constant and weights.dtype is DType.FLOAT32 and bool(np.isfinite(weights.as_array()).all())
    return padded.value == 0 and is_finite


def _least_winner(reader: Operator, options: Pool2D, padded: Padded, net: Net) -> float:
    """Return the largest padding value that cannot change the result of a maximum."""
    output = net.graph.tensors[reader.outputs[0]]
    least, _ = value_range(padded.source, net)
    if output.dtype is DType.FLOAT32:
        return max(least, float_clamp(options.activation)[0], _LEAST_FLOAT)
    limits = clamp(options.activation, options.limits, output)
    return least if limits is None else max(least, limits[0])


def _counts_alike(reader: Operator, options: Pool2D, padded: Padded, net: Net) -> bool:
    """Tell whether all pixels outside the image of a mean would count, with the same value."""
    if options.frame is not None:
        return options.outside == padded.value
    is_float = net.graph.tensors[padded.source].dtype.is_float
    whole, axes = net.graph.tensors[padded.output].shape[1:3], _axes(reader, options, padded, net)
    over = [axis.implicit(options, size) for axis, size in zip(axes or (), whole, strict=True)]
    return not any(map(any, over)) and (not is_float or padded.value == 0)
