"""Finds the taps of a window that are inside the image, and those outside, at some position of the window."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from usmp_build.arithmetic.vectors import Booleans
from usmp_build.arithmetic.windows import WIDEST, reach, same_padding
from usmp_build.ir.options import Padding
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D
from usmp_build.operators.values.quantized import Opaque


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


def window_taps(
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
