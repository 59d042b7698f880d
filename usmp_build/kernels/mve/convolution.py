"""CONV_2D and DEPTHWISE_CONV_2D of int8 with Helium."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.kernels import Constant, Kernel, Parameters, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels import nests_of_sums as nests
from usmp_build.kernels.arithmetic_of_sums import Arithmetic
from usmp_build.kernels.candidates import Declined
from usmp_build.kernels.convolved_image import ConvolvedImage
from usmp_build.kernels.mve.packing import FACTORS, SHORT, VECTOR, packed, packed_channels
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Blocks, Nest
from usmp_build.kernels.packed_filters import MOST_TAPS, as_conv_2d, filters, packed_kernel, zeros
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
    nest = nests.conv_2d(image.images, image.input.shape[3], image.channels)
    return _convolution(image, how, portable, weights, nest)


def _convolution(
    image: ConvolvedImage,
    how: Arithmetic,
    portable: Kernel,
    weights: NDArray[np.int64],
    nest: Nest,
    parameters: Parameters | None = None,
) -> Kernel:
    """Return the kernel for weights of shape (outputs, height x width x input channels)."""
    _check(image, how)
    channels, size = image.input.shape[3], weights.shape[1]
    kind, pixels = _kind(image, size), image.output.elements // image.channels
    constant = packed(filters(image.node, weights, how.factors), kind.runs)
    read = Traffic(image.images.inside * channels * kind.passes)
    if size <= SHORT:
        weighed = Traffic(pixels * len(constant.data))
    else:  # nothing is read beyond the end of a run
        weighed = Traffic(pixels * blocks(image.channels) * BLOCK * (size + FACTORS))
    function = c_name(kind.name, DType.INT8, isa=Isa.MVE, part="row")
    constants: tuple[Constant | None, ...] = (constant,)
    traffic = {0: read, 1: weighed}
    if kind.has_zeros:
        outside = image.taps_outside() * channels * kind.passes
        constants = constant, zeros(image.node, channels) if outside else None
        traffic[2] = Traffic(outside)
    return packed_kernel(image.node, portable, function, constants, traffic, nest, parameters)


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
        nest = nests.depthwise_conv_2d(image.images, 1, channels, BLOCK)
        return _convolution(image, how, portable, weights, nest, as_conv_2d(portable, channels))
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
    nest, parameters = nests.by_channels(image.images, Blocks(channels, size)), as_conv_2d(portable, channels)
    return packed_kernel(image.node, portable, function, (constant, zero_pixel), traffic, nest, parameters)


def _check(image: ConvolvedImage, how: Arithmetic) -> None:
    if how.sums is not DType.INT32:
        raise Declined(f"it is for int8, not {image.input.dtype.name}")
