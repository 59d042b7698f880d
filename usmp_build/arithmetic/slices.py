"""Which elements SLICE and STRIDED_SLICE take along each axis, as TensorFlow Lite Micro reads their operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from usmp_build.ir.options import StridedSlice

Taken: TypeAlias = tuple[range, ...]
"""The indices along each axis of the input."""


def sliced(shape: Sequence[int], begins: Sequence[int], sizes: Sequence[int]) -> Taken | None:
    """Return what SLICE takes; a size of -1 is all from the begin on.  None: that is not within the input.

    >>> sliced((4, 6), [1, 2], [2, -1])
    (range(1, 3), range(2, 6))
    """
    if not len(begins) == len(sizes) == len(shape):
        return None
    bounds = zip(shape, begins, sizes, strict=True)
    taken = tuple(range(begin, extent if size == -1 else begin + size) for extent, begin, size in bounds)
    inside = all(0 <= along.start <= along.stop <= extent for along, extent in zip(taken, shape, strict=True))
    return taken if inside else None


def strided(
    options: StridedSlice, shape: Sequence[int], begins: Sequence[int], ends: Sequence[int], strides: Sequence[int]
) -> Taken | None:
    """Return what STRIDED_SLICE takes: ranges as in Python, and one index of an axis that shrinks.

    A mask hides the begin of an axis that shrinks, too: it is the first then.  None: operands that mean nothing, and
    options that this does not read (an ellipsis, new axes, ends that count from the begins).

    >>> strided(StridedSlice(end_mask=2, shrink_axis_mask=1), (3, 8), [-1, 2], [0, 0], [1, 3])
    (range(2, 3), range(2, 8, 3))
    >>> strided(StridedSlice(begin_mask=1, shrink_axis_mask=1), (3, 8), [1, 0], [2, 8], [1, 1])
    (range(0, 1), range(0, 8))
    """
    if options.ellipsis_mask or options.new_axis_mask or options.offset:
        return None
    if not len(begins) == len(ends) == len(strides) == len(shape):
        return None
    bounds = zip(shape, begins, ends, strides, strict=True)
    taken = [_along(options, axis, *each) for axis, each in enumerate(bounds)]
    known = tuple(along for along in taken if along is not None)
    return known if len(known) == len(taken) else None


def _along(options: StridedSlice, axis: int, extent: int, begin: int, end: int, stride: int) -> range | None:
    first = None if options.begin_mask >> axis & 1 else begin
    if options.shrink_axis_mask >> axis & 1:
        index = first or 0
        only = index % extent if -extent <= index < extent else None
        return None if only is None or stride < 1 else range(only, only + 1)
    last = None if options.end_mask >> axis & 1 else end
    return range(extent)[first:last:stride] if stride else None


def shape_left(options: StridedSlice, taken: Taken) -> tuple[int, ...]:
    """Return the shape of what STRIDED_SLICE takes: without the axes that shrink."""
    return tuple(len(along) for axis, along in enumerate(taken) if not options.shrink_axis_mask >> axis & 1)
