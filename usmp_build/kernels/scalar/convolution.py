"""CONV_2D and DEPTHWISE_CONV_2D of int8 for processors that multiply one number at a time.

Turns are those of the portable kernels, though two pixels of a row are made at once: the second one is read early, and
its outputs wait, so that nothing is written before its turn.
"""

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
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Nest
from usmp_build.kernels.packed_filters import (
    as_conv_2d,
    check_scaling,
    filters,
    in_blocks,
    in_steep_blocks,
    packed_kernel,
    reach,
    scaling,
    zeros,
)
from usmp_build.kernels.requantization import int32_constant
from usmp_build.kernels.weights import BLOCK, blocks
from usmp_build.request import Isa

_MOST_WAITING = 256
"""Channels of a pixel whose outputs wait: USMP_MOST_WAITING."""
_MOST_GATHERED = 160
"""Bytes under a window that are read once, not for each block of filters: USMP_MOST_GATHERED."""
_SHORT = 8
"""Channels of pixels that are not gathered."""
_MOST_TAPS = 32
"""Pixels under a window, unless it is gathered: USMP_MOST_TAPS."""


class _Filters(NamedTuple):
    """Filters of a layer, and how they are read."""

    weights: NDArray[np.int64]
    """Of shape (outputs, products)."""
    packed: NDArray[np.int64]
    """The same in the order in which the C reads them."""
    passes: int
    """How often they are read."""
    seen: int
    """Bytes that are read of each pixel under a window."""
    has_zeros: bool = True
    """Whether pixels outside of the image are read as a constant."""


def conv_2d_scalar(image: ConvolvedImage, how: Arithmetic, portable: Kernel) -> Kernel:
    """Return the kernel of a CONV_2D without groups."""
    _check(image, how)
    weights = image.node.array(1, "weights").reshape(image.channels, -1).astype(np.int64)
    nest = nests.conv_2d(image.images, image.input.shape[3], image.channels)
    return _kernel("conv_2d", image, how, portable, _in_fours(image, weights), nest)


def depthwise_scalar(image: ConvolvedImage, how: Arithmetic, portable: Kernel) -> Kernel:
    """Return the kernel of a DEPTHWISE_CONV_2D: of one filter for each channel, or of an image of one channel."""
    _check(image, how)
    inputs, channels, taps = image.input.shape[3], image.channels, image.window[0] * image.window[1]
    by_tap = image.node.array(1, "weights").reshape(taps, channels).astype(np.int64)
    if inputs == 1 < channels:
        nest = nests.depthwise_conv_2d(image.images, 1, channels, BLOCK)
        parameters = as_conv_2d(portable, channels)
        return _kernel("conv_2d", image, how, portable, _in_fours(image, by_tap.T), nest, parameters)
    if channels != inputs:
        raise Declined("it has several filters for each of several channels")
    if taps > _MOST_TAPS:
        raise Declined(f"its window has more than {_MOST_TAPS} pixels")
    filters_ = _Filters(by_tap.T, by_tap, image.output.elements // channels, channels)
    nest = nests.depthwise_conv_2d(image.images, channels, 1, BLOCK)
    return _kernel("depthwise_conv_2d", image, how, portable, filters_, nest)


def _check(image: ConvolvedImage, how: Arithmetic) -> None:
    if how.sums is not DType.INT32:
        raise Declined(f"it is for int8, not {image.input.dtype.name}")


def _in_fours(image: ConvolvedImage, weights: NDArray[np.int64]) -> _Filters:
    """Return filters of shape (outputs, height x width x input channels) in blocks of four, for two pixels at once."""
    taps, channels = image.window[0] * image.window[1], image.input.shape[3]
    is_gathered = taps > 1 and channels < _SHORT and weights.shape[1] <= _MOST_GATHERED
    if taps > _MOST_TAPS and not is_gathered:
        raise Declined(f"its window has more than {_MOST_TAPS} pixels")
    width, rows = image.images.across.output, image.images.count * image.images.down.output
    passes = rows * (-(-width // 2) if image.channels <= _MOST_WAITING else width)
    seen = channels * (1 if is_gathered else blocks(image.channels))
    return _Filters(weights, in_blocks(weights, BLOCK).transpose(0, 2, 1), passes, seen, not is_gathered)


def _kernel(
    does: str,
    image: ConvolvedImage,
    how: Arithmetic,
    portable: Kernel,
    packed: _Filters,
    nest: Nest,
    parameters: Parameters | None = None,
) -> Kernel:
    """Return the kernel that reads filters as packed; for each block, it looks whether factors are steep."""
    each = filters(image.node, packed.weights, how.factors)
    are_steep = in_steep_blocks(each)
    check_scaling(each, are_steep, reach(each.weights, each.sums))
    excess, shifts = (in_blocks(array, BLOCK).ravel() for array in scaling(each, are_steep).T)
    steep_blocks = np.count_nonzero(in_blocks(are_steep.astype(np.int64), BLOCK).any(axis=1))
    outside = image.taps_outside() if packed.has_zeros else 0
    constants = (
        Constant("weights", DType.INT8, packed.packed.astype(np.int8).tobytes()),
        int32_constant("bias", in_blocks(each.sums, BLOCK).ravel()),
        int32_constant("excess", excess),
        Constant("shifts", DType.INT8, shifts.astype(np.int8).tobytes()),
        zeros(image.node, image.input.shape[3]) if outside else None,
    )
    biases = packed.packed.size // packed.weights.shape[1]
    read = packed.packed.size, 4 * biases, 4 * image.channels, image.channels + int(steep_blocks)
    weighed = (packed.passes * bytes_ for bytes_ in read)
    traffic = [image.images.inside * packed.seen, *weighed, outside * packed.seen]
    return packed_kernel(
        image.node,
        portable,
        c_name(does, DType.INT8, isa=Isa.SCALAR, part="row"),
        constants,
        dict(enumerate(map(Traffic, traffic))),
        nest,
        parameters,
    )
