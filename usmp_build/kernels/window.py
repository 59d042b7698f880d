"""Windows that slide over an image: TFLite's rules for padding."""

from __future__ import annotations

from typing import NamedTuple

from usmp_build.arithmetic import windows
from usmp_build.ir.options import Padding
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D

_MOST_TAPS = 256
"""Most taps of a window along one axis: the generated code keeps a pointer for each of its rows on the stack."""


class Slide(NamedTuple):
    """A window along one axis."""

    output: int
    """Number of positions of the window."""
    before: int
    """Padding before the first pixel."""


class Border(NamedTuple):
    """How windows treat the border along one axis."""

    padding: Padding
    frame: tuple[int, int] | None = None
    """Pixels before and after the image, in place of padding."""


def borders(options: Conv2D | DepthwiseConv2D | Pool2D) -> tuple[Border, Border]:
    """Return the borders along rows and along columns: above and below, left and right."""
    above, below, left, right = options.frame or (0, 0, 0, 0)
    vertical, horizontal = ((above, below), (left, right)) if options.frame else (None, None)
    return Border(options.padding, vertical), Border(options.padding, horizontal)


def slide(node: Node, border: Border, size: int, window: int, stride: int, dilation: int = 1) -> Slide:
    """Return the positions of a window along an axis of `size` pixels.

    SAME covers every pixel; VALID stays inside.  With a frame, it stays inside that.
    """
    node.expect(min(window, stride, dilation) >= 1, "has a window, stride or dilation of 0")
    reach = windows.reach(window, dilation)
    if max(reach, stride) > windows.WIDEST or window > _MOST_TAPS:
        raise Unsupported("its window is too wide")
    if border.frame is not None:
        before, after = border.frame
        positions = windows.places_in_frame(size, (before, after), reach, stride)
        node.expect(positions > 0, f"has a window of {reach} pixels over an image of {size} in a frame")
        if not windows.sees_pixels(size, before, positions, reach, stride):
            raise Unsupported("its window covers only padding at some position")
        return Slide(positions, before)
    if border.padding is Padding.VALID:
        node.expect(reach <= size, f"has a window of {reach} pixels over an image of {size}")
        return Slide((size - reach) // stride + 1, 0)
    return Slide(-(-size // stride), windows.same_padding(size, reach, stride)[0])


def taps_inside(positions: Slide, size: int, window: int, stride: int, dilation: int = 1) -> int:
    """Count the pixels under the window, in all its positions together, that are not padding.

    >>> taps_inside(Slide(output=4, before=1), size=4, window=3, stride=1)
    10
    """
    total = 0
    for tap in range(window):
        offset = tap * dilation - positions.before
        first = max(0, -(offset // stride))
        last = min(positions.output - 1, (size - 1 - offset) // stride)
        total += max(0, last - first + 1)
    return total
