"""Windows that slide along an axis of an image: how far they reach, what SAME pads, what a frame may be."""

from __future__ import annotations

WIDEST = 1 << 30
"""Pixels: kernels refuse windows and strides that are longer."""


def reach(window: int, dilation: int) -> int:
    """Return the pixels from the first to the last tap of a window.

    >>> reach(3, 2)
    5
    """
    return (window - 1) * dilation + 1


def same_padding(size: int, reach: int, stride: int) -> tuple[int, int]:
    """Return the pixels that SAME pads before and after `size` pixels: half each; an odd one goes after them.

    >>> same_padding(6, 3, 2), same_padding(5, 3, 1), same_padding(4, 1, 3)
    ((0, 1), (1, 1), (0, 0))
    """
    over = max(0, (-(-size // stride) - 1) * stride + reach - size)
    return over // 2, over - over // 2


def places_in_frame(size: int, frame: tuple[int, int], reach: int, stride: int) -> int:
    """Count the places of a window over `size` pixels in a frame; 0 where the window is larger.

    >>> places_in_frame(4, (1, 2), 3, 2)
    3
    """
    room = sum(frame) + size - reach
    return room // stride + 1 if room >= 0 else 0


def sees_pixels(size: int, before: int, places: int, reach: int, stride: int) -> bool:
    """Tell whether a window reaches into the image at all of its places: none is all frame.  Kernels rely on it."""
    return before < reach and (places - 1) * stride - before < size
