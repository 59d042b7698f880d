"""Windows that slide over an image: TFLite's rules for padding."""

from __future__ import annotations

from typing import NamedTuple

from usmp_build.ir.options import Padding
from usmp_build.kernels.reference.node import Node, Unsupported

_WIDEST = 1 << 30
_MOST_TAPS = 256
"""Of a window along one axis: the generated code keeps a pointer for each of its rows on the stack."""


class Slide(NamedTuple):
    """A window along one axis."""

    output: int
    """Places of the window."""
    before: int
    """Padding before the first pixel."""


def slide(node: Node, padding: Padding, size: int, window: int, stride: int, dilation: int = 1) -> Slide:
    """Place a window along an axis of `size` pixels.

    SAME covers every pixel and centres what hangs over, the odd pixel behind; VALID stays inside.
    """
    node.expect(min(window, stride, dilation) >= 1, "has a window, stride or dilation of 0")
    reach = (window - 1) * dilation + 1
    if max(reach, stride) > _WIDEST or window > _MOST_TAPS:
        raise Unsupported("its window is too wide")
    if padding is Padding.VALID:
        node.expect(reach <= size, f"has a window of {reach} pixels over an image of {size}")
        return Slide((size - reach) // stride + 1, 0)
    output = -(-size // stride)
    return Slide(output, max(0, (output - 1) * stride + reach - size) // 2)


def taps_inside(places: Slide, size: int, window: int, stride: int, dilation: int = 1) -> int:
    """Count the pixels under the window, at all its places together, that are not padding.

    >>> taps_inside(Slide(output=4, before=1), size=4, window=3, stride=1)
    10
    """
    total = 0
    for tap in range(window):
        offset = tap * dilation - places.before
        first = max(0, -(offset // stride))
        last = min(places.output - 1, (size - 1 - offset) // stride)
        total += max(0, last - first + 1)
    return total
