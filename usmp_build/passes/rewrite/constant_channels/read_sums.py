"""Reads CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED into the form of `Sum`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from usmp_build.arithmetic.vectors import Booleans, Integers
from usmp_build.arithmetic.windows import WIDEST, reach, same_padding
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.options import Padding
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D, FullyConnected
from usmp_build.operators.values.quantized import Opaque, channels, constant_value, factor, limits, operand, quantized
from usmp_build.passes.rewrite.constant_channels.sums import Sum, Weights

_MOST_WEIGHTS = 1 << 22
"""Most weights of one operator; with more, it is opaque."""


class _Form(NamedTuple):
    """The fields of `Sum` that depend on the kind."""

    weights: Weights
    channel: Integers
    inside: Booleans
    outside: Booleans
    axis: int
    """Axis of the outputs in the stored weights."""


def read_sum(op: Operator, graph: Subgraph) -> Sum:
    """Return an operator as a sum.  Raises Opaque if it cannot be analyzed."""
    if len(op.outputs) != 1:
        raise Opaque
    source, stored, output = operand(op, graph, 0), operand(op, graph, 1), graph.tensors[op.outputs[0]]
    options = op.options
    if source is None or source.is_constant or stored is None or stored.elements > _MOST_WEIGHTS:
        raise Opaque
    if not isinstance(options, Conv2D | DepthwiseConv2D | FullyConnected):
        raise Opaque
    weights = constant_value(stored, DType.INT8).astype(np.int8, copy=False)
    form = _form(op, weights, source, output)
    outputs = len(form.weights)
    if channels(output) != outputs or not outputs:
        raise Opaque
    given = operand(op, graph, 2)
    bias = (
        np.zeros(outputs, np.int64)
        if given is None
        else constant_value(given, DType.INT32).astype(np.int64).reshape(-1)
    )
    if len(bias) != outputs or op.inputs[0] is None or (given is not None and given.shape[-1:] != (outputs,)):
        raise Opaque
    scale, zero_point = quantized(source)
    target = quantized(output)
    return Sum(
        source=op.inputs[0],
        target=op.outputs[0],
        weights=form.weights,
        weight_zero_point=_weight_zero_point(op, stored),
        channel=form.channel,
        depthwise=op.kind == "DEPTHWISE_CONV_2D",
        bias=bias,
        has_bias=given is not None,
        inside=form.inside,
        outside=form.outside,
        factors=tuple(factor(scale * each / target.scale) for each in _weight_scales(stored, form.axis, outputs)),
        zero_point=zero_point,
        target_zero_point=target.zero_point,
        limits=limits(options.activation, output, options.limits),
    )


def _form(op: Operator, weights: Weights, source: Tensor, output: Tensor) -> _Form:
    options = op.options
    if isinstance(options, FullyConnected):
        return _matrix(options, weights, source)
    if len(source.shape) != 4 or len(output.shape) != 4 or weights.ndim != 4:
        raise Opaque
    height, width = weights.shape[1:3]
    if isinstance(options, Conv2D) and weights.shape[3] == source.shape[3]:
        seen = _window_taps(options, source.shape, output.shape, (height, width))
        taps = weights.reshape(len(weights), height * width, -1)
        return _Form(taps, np.arange(source.shape[3]), *seen, 0)
    if isinstance(options, DepthwiseConv2D) and weights.shape[0] == 1 and weights.shape[3] % source.shape[3] == 0:
        seen = _window_taps(options, source.shape, output.shape, (height, width))
        taps = weights.reshape(height * width, -1).T[:, :, None]
        return _Form(taps, np.arange(len(taps)) // (len(taps) // source.shape[3]), *seen, 3)
    raise Opaque


def _matrix(options: FullyConnected, weights: Weights, source: Tensor) -> _Form:
    """Return the form of FULLY_CONNECTED: the inputs of a batch are whole pixels, one after another."""
    if weights.ndim != 2 or options.shuffled_weights or weights.shape[1] % channels(source):
        raise Opaque
    one = np.ones(1, np.bool_)
    return _Form(weights[:, None, :], np.arange(weights.shape[1]) % channels(source), one, ~one, 0)


def _weight_scales(weights: Tensor, axis: int, outputs: int) -> tuple[float, ...]:
    quantization = weights.quantization
    if (
        quantization is None
        or len(quantization.scales) not in (1, outputs)
        or (quantization.per_channel and quantization.axis != axis)
    ):
        raise Opaque
    if not all(0 < scale < float("inf") for scale in quantization.scales):
        raise Opaque
    return quantization.scales


def _weight_zero_point(op: Operator, weights: Tensor) -> int:
    """Return the zero point of weights: only those of FULLY_CONNECTED may have one, common to all outputs."""
    points = weights.quantization.zero_points if weights.quantization else ()
    if not any(points):
        return 0
    if op.kind != "FULLY_CONNECTED" or len(points) != 1 or not -128 <= points[0] <= 127:
        raise Opaque
    return points[0]


class Taps(NamedTuple):
    """For each tap, whether it is inside, and whether it is outside, at some position."""

    inside: Booleans
    outside: Booleans


def taps(size: int, places: int, window: int, stride: int, dilation: int, before: int) -> Taps:
    """Return the taps along one axis; `places` are positions, `before` is the padding before the first pixel.

    >>> [list(map(bool, seen)) for seen in taps(4, 4, 3, 1, 1, 1)]
    [[True, True, True], [True, False, True]]
    """
    if min(size, places, window, stride, dilation) < 1 or max(stride, dilation, before) > WIDEST:
        raise Opaque
    first = np.arange(window, dtype=np.int64) * dilation - before
    last = first + (places - 1) * stride
    return Taps((last >= 0) & (first < size), (first < 0) | (last >= size))


def _window_taps(
    options: Conv2D | DepthwiseConv2D, source: tuple[int, ...], target: tuple[int, ...], window: tuple[int, int]
) -> Taps:
    """Return the taps of a 2-D window, row by row; shapes are those of images."""
    axes = _axes(options, source, target, window)
    if options.frame is not None:
        pads = [options.frame[0], options.frame[2]]
    elif options.padding is Padding.VALID:
        pads = [0, 0]
    else:
        pads = [same_padding(size, reach(width, dilation), stride)[0] for size, _, width, stride, dilation in axes]
    rows, columns = (taps(*axis, pad) for axis, pad in zip(axes, pads, strict=True))
    return Taps(
        (rows.inside[:, None] & columns.inside).reshape(-1), (rows.outside[:, None] | columns.outside).reshape(-1)
    )


def _axes(
    options: Conv2D | DepthwiseConv2D, source: tuple[int, ...], target: tuple[int, ...], window: tuple[int, int]
) -> list[tuple[int, int, int, int, int]]:
    strides, dilations = (options.stride_h, options.stride_w), (options.dilation_h, options.dilation_w)
    return list(zip(source[1:3], target[1:3], window, strides, dilations, strict=True))
