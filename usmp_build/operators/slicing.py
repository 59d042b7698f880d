"""SLICE and STRIDED_SLICE; which elements they take, as TensorFlow Lite Micro reads their operands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from math import prod
from typing import TypeAlias

import numpy as np

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Tensor
from usmp_build.ir.options import Options, slot
from usmp_build.operators.fold import arrays, flat
from usmp_build.operators.general_rules import count_fault, integers, same_type, shape_fault, shown
from usmp_build.operators.kind import Array, Fold, Known, StoredOptions, mover
from usmp_build.operators.operands import Fault, Signature, Subject

Taken: TypeAlias = tuple[range, ...]
"""The indices along each axis of the input."""


@frozen
class StridedSlice(Options):
    """STRIDED_SLICE; bit i of a mask speaks of axis i."""

    begin_mask: int = field(default=0, metadata=slot(0, "i"))
    end_mask: int = field(default=0, metadata=slot(1, "i"))
    ellipsis_mask: int = field(default=0, metadata=slot(2, "i"))
    new_axis_mask: int = field(default=0, metadata=slot(3, "i"))
    shrink_axis_mask: int = field(default=0, metadata=slot(4, "i"))
    offset: bool = field(default=False, metadata=slot(5, "?"))
    """The ends count from the begins."""


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
    options that this does not read (an ellipsis, new axes, ends relative to the begins).

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
    ranges = tuple(along for along in taken if along is not None)
    return ranges if len(ranges) == len(taken) else None


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


def _cut(subject: Subject) -> Iterator[Fault]:
    """SLICE: begins and sizes are within the input, and the output has as many elements."""
    shape, begins, sizes = subject.shape("input"), subject.numbers("begins"), subject.numbers("sizes")
    if begins is None or sizes is None:
        return
    taken = sliced(shape, begins, sizes)
    if taken is None:
        yield Fault("T249", f"it takes {shown(sizes)} from {shown(begins)}, which is not within {list(shape)}")
    else:
        yield from count_fault(subject, "output", prod(map(len, taken)))


def _strided_cut(subject: Subject) -> Iterator[Fault]:
    """STRIDED_SLICE: the output has the shape of what is taken.

    An ellipsis, new axes, ends relative to the begins, and axes that are not mentioned are not judged.
    """
    options, shape = subject.operator.options, subject.shape("input")
    assert isinstance(options, StridedSlice)
    begins, ends, strides = (subject.numbers(name) for name in ("begins", "ends", "strides"))
    if options.ellipsis_mask or options.new_axis_mask or options.offset or begins is None or ends is None:
        return
    if strides is None or max(map(len, (begins, ends, strides))) < len(shape):
        return
    if 0 in strides or {len(begins), len(ends), len(strides)} != {len(shape)}:
        message = f"it has begins {shown(begins)}, ends {shown(ends)} and strides {shown(strides)}"
        yield Fault("T249", f"{message}: there must be one of each for each dimension of {list(shape)}, no stride 0")
    taken = strided(options, shape, begins, ends, strides)
    if taken is None:
        yield Fault("T249", f"it takes one index of an axis of {list(shape)}, which does not have it")
    else:
        yield from shape_fault(subject, "output", shape_left(options, taken))


def _strided_slice(op: Operator, sources: Sequence[Tensor]) -> Array:
    data, *numbers = arrays(sources)
    if not isinstance(op.options, StridedSlice):
        raise ValueError
    taken = strided(op.options, data.shape, *flat(numbers))
    return _taken(data, taken).reshape(shape_left(op.options, taken or ()))


def _slice(_: Operator, sources: Sequence[Tensor]) -> Array:
    data, *numbers = arrays(sources)
    return _taken(data, sliced(data.shape, *flat(numbers)))


def _taken(data: Array, taken: Taken | None) -> Array:
    if taken is None:
        raise ValueError
    return data[np.ix_(*taken)] if taken else data


KINDS = (
    mover(
        "SLICE",
        Signature("input begins sizes", rules=(same_type("input", "output"), integers("begins", "sizes"), _cut)),
        keeps_axes=True,
        fold=Fold(Known.BYTES, _slice),
    ),
    mover(
        "STRIDED_SLICE",
        Signature(
            "input begins ends strides",
            rules=(same_type("input", "output"), integers("begins", "ends", "strides"), _strided_cut),
        ),
        options=StoredOptions(StridedSlice, "StridedSliceOptions"),
        fold=Fold(Known.BYTES, _strided_slice),
    ),
)
