"""CONV_2D and DEPTHWISE_CONV_2D of int8 and int16 with Arm's DSP extension: turns are those of the portable kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.kernels import Constant, Kernel, Parameters, Traffic, Value
from usmp_build.ir.graph import DType
from usmp_build.kernels import nests_of_sums as nests
from usmp_build.kernels.activation import quantized_limits
from usmp_build.kernels.arithmetic_of_sums import Arithmetic
from usmp_build.kernels.candidates import Declined
from usmp_build.kernels.convolved_image import ConvolvedImage
from usmp_build.kernels.dsp.packing import WORD, Packed, packed, packed_depthwise, packed_pair
from usmp_build.kernels.dsp.packing_s16 import packed_depthwise_s16, packed_s16
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Nest
from usmp_build.kernels.packed_filters import MOST_TAPS, Filters, filters, packed_kernel, zeros
from usmp_build.kernels.pitches import pitch_fields
from usmp_build.kernels.weights import BLOCK, blocks
from usmp_build.operators.sums import Conv2D
from usmp_build.request import Isa

_PATCH, _LARGE_PATCH = 64, 256
"""Bytes on the stack for all of a window."""
_MOST_FILTERS = 32
"""For a channel."""
_MOST_REPEATED = 16
"""Bytes under a window, up to which it is faster to repeat a channel for its filters than to add them up unpacked."""
_BY_PIXELS = 2
"""How sums are divided that are those of pixels."""
_MOST_PRODUCTS = 160
"""Of int16, for which a packed kernel takes fewer instructions than vectors of eight do in the portable one."""


def conv_2d_dsp(image: ConvolvedImage, how: Arithmetic, portable: Kernel) -> Kernel:
    """Return the kernel of a CONV_2D without groups.

    What a pixel is made of is one run of bytes, or one for each tap; few bytes are gathered first, also those of int16
    that would be read by more words in runs.
    """
    weights = image.node.array(1, "weights").reshape(image.channels, -1).astype(np.int64)
    nest = nests.conv_2d(image.images, image.input.shape[3], image.channels)
    return _convolution(image, how, portable, weights, nest)


def _convolution(
    image: ConvolvedImage, how: Arithmetic, portable: Kernel, weights: NDArray[np.int64], nest: Nest
) -> Kernel:
    """Return the kernel for weights of shape (outputs, height x width x input channels)."""
    _check(image, how)
    each, pixels = filters(image.node, weights, how.factors), image.output.elements // image.channels
    channels, taps, size = image.input.shape[3], image.window[0] * image.window[1], weights.shape[1] * _width(image)
    constants: tuple[Constant | None, ...]
    pair = packed_pair(each, taps) if how.sums is DType.INT32 and _has_words(image) else None
    if _has_runs(image):
        packing = Packed(pair) if pair else _packed_runs(image, each, how)
        name = "conv_2d_pair" if pair else "conv_2d"
        read, outside, zero_pixel = _taps(image, blocks(image.channels) * _whole_words(channels * _width(image)))
        constants = packing.constant, zero_pixel
        weighed = len(packing.constant.data) * pixels
        if not pair and _leaves_out(image, packing):
            weighed -= image.taps_outside() * blocks(image.channels) * BLOCK * channels
            outside = Traffic()
        traffic = {0: read, 1: Traffic(weighed), 2: outside}
    elif size <= _LARGE_PATCH or _is_pointwise(image):
        least = WORD // _width(image)
        filled = np.pad(weights, ((0, 0), (0, max(0, least - weights.shape[1]))))
        is_pair = pair is not None and _is_pointwise(image)
        packing = Packed(pair) if pair and is_pair else _packed(each._replace(weights=filled), 1, how)
        read = Traffic(pixels * blocks(image.channels) * _whole_words(size))
        name = "conv_2d_1x1_pair" if is_pair else "conv_2d_1x1"
        if not _is_pointwise(image):
            read = Traffic(_gathered(image))
            name = "conv_2d_patch" if size <= _PATCH else "conv_2d_large_patch"
        constants, traffic = (packing.constant,), {0: read, 1: Traffic(len(packing.constant.data) * pixels)}
    else:
        raise Declined(f"its window has more than {MOST_TAPS} pixels and {_LARGE_PATCH} bytes")
    parameters = Parameters(c_name("conv_2d", how.elements, isa=Isa.DSP, part="parameters"), _fields(image, packing))
    return packed_kernel(image.node, portable, _function(name, how), constants, traffic, nest, parameters)


def _function(does: str, how: Arithmetic) -> str:
    return c_name(does, how.elements, isa=Isa.DSP, part="row")


def _packed(each: Filters, runs: int, how: Arithmetic) -> Packed:
    """Return filters of `runs` equal runs of input, as a constant."""
    return packed(each, runs) if how.sums is DType.INT32 else Packed(packed_s16(each, runs))


def _packed_runs(image: ConvolvedImage, each: Filters, how: Arithmetic) -> Packed:
    """Return filters whose runs are pixels; of int8, with sums into which no zero point is folded."""
    (height, width), zero_point = image.window, image.node.zero_point(image.input)
    if how.sums is not DType.INT32:
        return _packed(each, height * width, how)
    biases = each.sums + zero_point * each.weights.sum(axis=1)
    return packed(each._replace(sums=biases), height * width, height, zero_point)


def _leaves_out(image: ConvolvedImage, packing: Packed) -> bool:
    """Return whether the weights of pixels outside of the image are not read, because rows of pixels are one run."""
    channels, is_int8 = image.input.shape[3], image.input.dtype is DType.INT8
    is_dense = image.options.dilation_w == 1 and image.pitches.input == channels and channels % WORD == 0
    return is_int8 and is_dense and packing.divided != _BY_PIXELS


def _fields(image: ConvolvedImage, packing: Packed) -> tuple[tuple[str, Value], ...]:
    node, options = image.node, image.options
    zero_point = node.zero_point(image.output)
    low, high = (
        limit + zero_point for limit in quantized_limits(node, options.activation, image.output, options.limits)
    )
    is_int8 = image.input.dtype is DType.INT8
    lowest, highest = (-128, 127) if is_int8 else (-(1 << 15), (1 << 15) - 1)
    return (
        *image.fields((("output_channels", image.channels),)),
        ("input_zero_point", node.zero_point(image.input)),
        *((("rounding", 1 + 2 * zero_point),) if is_int8 else ()),
        ("low", low),
        ("high", high),
        ("is_clamped", int((low, high) != (lowest, highest))),
        *((("is_wide", int(packing.is_wide)), ("is_divided", packing.divided)) if is_int8 else ()),
        *pitch_fields(image.pitches),
    )


def depthwise_dsp(image: ConvolvedImage, how: Arithmetic, portable: Kernel) -> Kernel:
    """Return the kernel of a DEPTHWISE_CONV_2D."""
    _check(image, how)
    inputs, channels, taps = image.input.shape[3], image.channels, image.window[0] * image.window[1]
    weights = image.node.array(1, "weights").reshape(taps, channels).T.astype(np.int64)
    is_int8 = how.sums is DType.INT32
    if inputs == 1:
        return _convolution(image, how, portable, weights, nests.depthwise_conv_2d(image.images, 1, channels, BLOCK))
    most_taps = MOST_TAPS if channels == inputs else min(MOST_TAPS, _LARGE_PATCH // _width(image) // BLOCK)
    if taps > most_taps:
        raise Declined(f"its window has more than {most_taps} pixels")
    if channels > _MOST_FILTERS * inputs:
        raise Declined(f"it has more than {_MOST_FILTERS} filters for a channel")
    if channels > inputs and channels // inputs % BLOCK == 0 and taps * _width(image) > _MOST_REPEATED:
        raise Declined("its filters come in fours for each channel, which is as fast unpacked with such a window")
    each = filters(image.node, weights, how.factors)
    constant = packed_depthwise(each) if is_int8 else packed_depthwise_s16(each)
    name = "depthwise_conv_2d" if channels == inputs else "depthwise_conv_2d_repeated"
    elements = inputs if channels == inputs else _repeated(channels, inputs, taps * _width(image))
    read, outside, zero_pixel = _taps(image, elements * _width(image))
    traffic = {0: read, 1: Traffic(len(constant.data) * image.output.elements // channels), 2: outside}
    nest = nests.depthwise_conv_2d(image.images, inputs, channels // inputs, BLOCK)
    return packed_kernel(image.node, portable, _function(name, how), (constant, zero_pixel), traffic, nest)


def _repeated(channels: int, inputs: int, taps: int) -> int:
    """Return how many elements of a pixel are read, in parts of as many channels as fit the stack, to repeat them.

    `taps` are the bytes of a channel under the window.
    """
    most, each = _LARGE_PATCH // taps // BLOCK * BLOCK, channels // inputs
    ends = (min(first + most, channels) for first in range(0, channels, most))
    return sum(-(-end // each) - (end - 1) // most * most // each for end in ends)


def _check(image: ConvolvedImage, how: Arithmetic) -> None:
    if how.sums is DType.FLOAT32:
        raise Declined("it is for int8 and int16, not FLOAT32")
    if how.is_narrow:
        raise Declined("its biases have 32 bits, as those of int8")
    products = image.weights.elements // image.channels
    has_helium = image.node.isa is Isa.MVE and isinstance(image.options, Conv2D)
    if how.sums is DType.INT64 and has_helium and products > _MOST_PRODUCTS:
        raise Declined(f"sums of more than {_MOST_PRODUCTS} products of int16 are faster with Helium, unpacked")


def _is_pointwise(image: ConvolvedImage) -> bool:
    """Return whether each output is made of one pixel, all of whose bytes are read by words where they are."""
    return image.window == (1, 1) and not image.taps_outside() and _has_words(image)


def _has_runs(image: ConvolvedImage) -> bool:
    """Return whether there are several runs of bytes, of a pixel each, for each output."""
    taps, channels, width = image.window[0] * image.window[1], image.input.shape[3], _width(image)
    is_gathered = width > 1 and channels * width % WORD != 0 and taps * channels * width <= _LARGE_PATCH
    return _has_words(image) and not _is_pointwise(image) and taps <= MOST_TAPS and not is_gathered


def _taps(image: ConvolvedImage, size: int) -> tuple[Traffic, Traffic, Constant | None]:
    """Return what taps of `size` bytes read, of the image and of zeros outside, and these zeros if there are any."""
    outside = image.taps_outside()
    zero_pixel = zeros(image.node, image.input.shape[3]) if outside else None
    return Traffic(image.images.inside * size), Traffic(outside * size), zero_pixel


def _has_words(image: ConvolvedImage) -> bool:
    """Return whether a pixel has at least a word."""
    return image.input.shape[3] * _width(image) >= WORD


def _width(image: ConvolvedImage) -> int:
    """Return the bytes of an element."""
    return image.input.dtype.bits // 8


def _whole_words(size: int) -> int:
    return -(-size // WORD) * WORD


def _gathered(image: ConvolvedImage) -> int:
    """Return the bytes that are read to gather the pixels under each window once."""
    options, width, channels = image.options, image.window[1], image.input.shape[3]
    is_dense = options.dilation_w == 1 and image.pitches.input == channels
    total = 0
    for position in range(image.images.across.output):
        start = position * options.stride_w - image.images.across.before
        columns = (start + tap * options.dilation_w for tap in range(width))
        size = _width(image) * channels * sum(0 <= column < image.input.shape[2] for column in columns)
        total += -(-size // WORD) * WORD if is_dense and size >= WORD else size
    return image.images.count * image.images.down.inside * total
