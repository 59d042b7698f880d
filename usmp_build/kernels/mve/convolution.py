"""CONV_2D and DEPTHWISE_CONV_2D of int8 with Helium."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.accesses import Accesses
from usmp_build.interfaces.kernels import Kernel, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels.accesses_of_sums import channel_block_accesses, conv_2d_accesses, depthwise_accesses
from usmp_build.kernels.arithmetic_of_sums import Arithmetic
from usmp_build.kernels.candidates import Declined
from usmp_build.kernels.convolved_image import ConvolvedImage
from usmp_build.kernels.mve.packing import FACTORS, SHORT, VECTOR, packed, packed_channels
from usmp_build.kernels.names import c_name
from usmp_build.kernels.packed_filters import MOST_TAPS, filters, packed_kernel, zeros
from usmp_build.kernels.weights import BLOCK, blocks
from usmp_build.request import Isa

_PATCH = 256
"""Bytes on the stack for all of a window."""


class _Kind(NamedTuple):
    """One of the functions for CONV_2D."""

    name: str
    runs: int
    """Of input bytes, for each pixel."""
    passes: int
    """How often these are read."""
    has_zeros: bool = False
    """Whether it takes a pixel of zeros for those outside of the image."""


def conv_2d_mve(image: ConvolvedImage, how: Arithmetic, portable: Kernel) -> Kernel:
    """Return the kernel of a CONV_2D without groups."""
    weights = image.node.array(1, "weights").reshape(image.channels, -1).astype(np.int64)
    return _convolution(image, how, portable, weights)


def _convolution(image: ConvolvedImage, how: Arithmetic, portable: Kernel, weights: NDArray[np.int64]) -> Kernel:
    """Return the kernel for weights of shape (outputs, height x width x input channels)."""
    _check(image, how)
    channels, size = image.input.shape[3], weights.shape[1]
    kind, pixels = _kind(image, size), image.output.elements // image.channels
    constant = packed(filters(image.node, weights, how.factors), kind.runs)
    read = Traffic(image.taps_inside() * channels * kind.passes)
    if size <= SHORT:
        weighed = Traffic(pixels * len(constant.data))
    else:  # nothing is read beyond the end of a run
        weighed = Traffic(pixels * blocks(image.channels) * BLOCK * (size + FACTORS))
    row, operands = image.row(), 4 if kind.has_zeros else 3
    accesses = conv_2d_accesses(row, channels, image.channels, 1, operands)
    traffic = {0: read, 1: weighed}
    function = c_name(kind.name, DType.INT8, isa=Isa.MVE, part="row")
    if not kind.has_zeros:
        return packed_kernel(portable, function, (constant,), traffic, accesses)
    outside = image.taps_outside() * channels * kind.passes
    zero_pixel = zeros(image.node, channels) if outside else None
    traffic[2] = Traffic(outside)
    return packed_kernel(portable, function, (constant, zero_pixel), traffic, accesses)


def _kind(image: ConvolvedImage, size: int) -> _Kind:
    """Choose the function for filters of `size` bytes."""
    channels, (height, width) = image.input.shape[3], image.window
    is_contiguous = image.options.dilation_w == 1 and image.pitches.input == channels
    is_dense = (is_contiguous or width == 1) and not image.taps_outside()
    if size <= SHORT:
        return _Kind("conv_2d_short" if is_dense and height == 1 else "conv_2d_patch", 1, 1)
    if is_dense and height <= MOST_TAPS:
        return _Kind("conv_2d_rows", height, blocks(image.channels))
    if channels < VECTOR and size <= _PATCH and (is_contiguous or height * width <= MOST_TAPS):
        return _Kind("conv_2d_large_patch", 1, 1)
    if height * width > MOST_TAPS:
        raise Declined(f"its window has more than {MOST_TAPS} pixels and {_PATCH} bytes")
    return _Kind("conv_2d", height * width, blocks(image.channels), has_zeros=True)


def depthwise_mve(image: ConvolvedImage, how: Arithmetic, portable: Kernel) -> Kernel:
    """Return the kernel of a DEPTHWISE_CONV_2D: of one filter for each channel, or of an image of one channel."""
    _check(image, how)
    inputs, channels, taps = image.input.shape[3], image.channels, image.window[0] * image.window[1]
    weights = image.node.array(1, "weights").reshape(taps, channels).T.astype(np.int64)
    if inputs == 1 < channels:
        kernel = _convolution(image, how, portable, weights)
        accesses = depthwise_accesses(image.row(), 1, channels, 1, len(kernel.calls[0].operands), BLOCK)
        return _as_conv_2d(kernel, channels, accesses)
    if channels != inputs:
        raise Declined("it has several filters for each of several channels")
    if taps > MOST_TAPS:
        raise Declined(f"its window has more than {MOST_TAPS} pixels")
    # blocks of eight take 3/5 of what blocks of sixteen do
    size = 8 if 3 * blocks(channels, 8) <= 5 * blocks(channels, 16) else 16
    constant = packed_channels(filters(image.node, weights, how.factors), size)
    pixels = image.output.elements // channels
    again = taps // 2 * len(constant.data) // (taps + 9) if size == 16 else 0  # every other tap's weights
    outside = image.taps_outside() * channels
    traffic = {1: Traffic(pixels * (len(constant.data) + again)), 2: Traffic(outside)}
    does = "depthwise_conv_2d_eights" if size == 8 else "depthwise_conv_2d"
    function = c_name(does, DType.INT8, isa=Isa.MVE, part="row")
    zero_pixel = zeros(image.node, channels) if outside else None
    accesses = channel_block_accesses(image.row(), channels, size, 4)
    kernel = packed_kernel(portable, function, (constant, zero_pixel), traffic, accesses)
    return _as_conv_2d(kernel, channels, accesses)


def _as_conv_2d(kernel: Kernel, channels: int, accesses: Accesses) -> Kernel:
    """Return the kernel of a DEPTHWISE_CONV_2D with the parameters of a CONV_2D, which its function takes."""
    (call,) = kernel.calls
    assert call.parameters is not None
    fields = tuple(
        ("output_channels", channels) if name == "depth_multiplier" else (name, value)
        for name, value in call.parameters.fields
    )
    parameters = replace(call.parameters, struct=c_name("conv_2d", DType.INT8, part="parameters"), fields=fields)
    return replace(kernel, calls=(replace(call, parameters=parameters, accesses=accesses),))


def _check(image: ConvolvedImage, how: Arithmetic) -> None:
    if how.sums is not DType.INT32:
        raise Declined(f"it is for int8, not {image.input.dtype.name}")
