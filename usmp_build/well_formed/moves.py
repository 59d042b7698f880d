"""Rules of operators that move elements or work along axes.  What is not known at build time is not judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from usmp_build.arithmetic.slices import shape_left, sliced, strided
from usmp_build.ir.graph import Tensor
from usmp_build.ir.options import Concatenation, Pack, StridedSlice
from usmp_build.well_formed.form import Fault, Label, Subject
from usmp_build.well_formed.rules import count_fault, shape_fault


def concatenated(subject: Subject) -> Iterator[Fault]:
    """CONCATENATION: the inputs side by side are the output."""
    options = subject.operator.options
    assert isinstance(options, Concatenation)
    yield from _side_by_side(subject.shape("output"), [*subject.each("inputs")], options.axis)


def packed(subject: Subject) -> Iterator[Fault]:
    """PACK: the inputs have the shape of the output without the axis along which they lie."""
    options, output = subject.operator.options, subject.shape("output")
    assert isinstance(options, Pack)
    yield from _axis_faults([options.axis], output)
    axis, inputs = options.axis % len(output), [*subject.each("inputs")]
    for label, tensor in inputs:
        if (*tensor.shape[:axis], len(inputs), *tensor.shape[axis:]) != output:
            message = f"{label} has the shape {list(tensor.shape)}, but is one of {len(inputs)} along axis {axis}"
            yield Fault("T247", f"{message} of {list(output)}")


def split(subject: Subject) -> Iterator[Fault]:
    """SPLIT and SPLIT_V: the outputs side by side are the input."""
    axes = subject.numbers("axis")
    if axes is None:
        return
    if len(axes) != 1:
        yield Fault("T249", f"it splits along {len(axes)} axes, not along one")
    yield from _side_by_side(subject.shape("input"), [*subject.each("outputs")], axes[0])


def unpacked(subject: Subject) -> Iterator[Fault]:
    """UNPACK: the outputs together have the elements of the input."""
    outputs = [tensor for _, tensor in subject.each("outputs")]
    for position, tensor in enumerate(outputs):
        if tensor.elements * len(outputs) != prod(subject.shape("input")):
            message = f"output {position} has the shape {list(tensor.shape)}, but is one of {len(outputs)} equal parts"
            yield Fault("T247", f"{message} of {list(subject.shape('input'))}")


def padded(subject: Subject) -> Iterator[Fault]:
    """PAD and PADV2: each axis of the output is that of the input, with what is before and after it."""
    paddings, shape = subject.numbers("paddings"), subject.shape("input")
    value = subject.tensor("value")
    if value is not None and value.elements != 1:
        yield Fault("T247", f"it pads with a value of shape {list(value.shape)}, not with one element")
    if paddings is None:
        return
    if len(paddings) != 2 * len(shape) or min(paddings, default=0) < 0:
        message = f"its paddings are {_shown(paddings)}, but must be two of 0 or more for each of {list(shape)}"
        yield Fault("T249", message)
    around = zip(paddings[::2], shape, paddings[1::2], strict=True)
    yield from shape_fault(subject, "output", tuple(before + size + after for before, size, after in around))


def cut(subject: Subject) -> Iterator[Fault]:
    """SLICE: begins and sizes are within the input, and the output has as many elements."""
    shape, begins, sizes = subject.shape("input"), subject.numbers("begins"), subject.numbers("sizes")
    if begins is None or sizes is None:
        return
    taken = sliced(shape, begins, sizes)
    if taken is None:
        yield Fault("T249", f"it takes {_shown(sizes)} from {_shown(begins)}, which is not within {list(shape)}")
    else:
        yield from count_fault(subject, "output", prod(map(len, taken)))


def strided_cut(subject: Subject) -> Iterator[Fault]:
    """STRIDED_SLICE: the output has the shape of what is taken.

    An ellipsis, new axes, ends that count from the begins, and axes that are not mentioned are not judged.
    """
    options, shape = subject.operator.options, subject.shape("input")
    assert isinstance(options, StridedSlice)
    begins, ends, strides = (subject.numbers(name) for name in ("begins", "ends", "strides"))
    if options.ellipsis_mask or options.new_axis_mask or options.offset or begins is None or ends is None:
        return
    if strides is None or max(map(len, (begins, ends, strides))) < len(shape):
        return
    if 0 in strides or {len(begins), len(ends), len(strides)} != {len(shape)}:
        message = f"it has begins {_shown(begins)}, ends {_shown(ends)} and strides {_shown(strides)}"
        yield Fault("T249", f"{message}: there must be one of each for each dimension of {list(shape)}, no stride 0")
    taken = strided(options, shape, begins, ends, strides)
    if taken is None:
        yield Fault("T249", f"it takes one index of an axis of {list(shape)}, which does not have it")
    else:
        yield from shape_fault(subject, "output", shape_left(options, taken))


def reduced(subject: Subject) -> Iterator[Fault]:
    """MEAN, SUM and the like: the output has what is left when the axes are gone."""
    axes, shape = subject.numbers("axes"), subject.shape("input")
    if axes is None:
        return
    yield from _axis_faults(axes, shape)
    gone = {axis % len(shape) for axis in axes}
    yield from count_fault(subject, "output", prod(size for axis, size in enumerate(shape) if axis not in gone))


def permuted(subject: Subject) -> Iterator[Fault]:
    """TRANSPOSE: every axis is named once, and the output has the axes in their new order."""
    axes, shape = subject.numbers("axes"), subject.shape("input")
    if axes is None:
        return
    yield from _axis_faults(axes, shape)
    order = [axis % len(shape) for axis in axes]
    if sorted(order) != [*range(len(shape))]:
        yield Fault("T249", f"its axes are {_shown(axes)}, but must be each of {list(shape)} once")
    yield from shape_fault(subject, "output", tuple(shape[axis] for axis in order))


def _side_by_side(whole: Sequence[int], parts: Sequence[tuple[Label, Tensor]], axis: int) -> Iterator[Fault]:
    yield from _axis_faults([axis], whole)
    axis %= len(whole)
    for label, part in parts:
        if len(part.shape) != len(whole) or any(
            size != part.shape[other] for other, size in enumerate(whole) if other != axis
        ):
            message = f"{label} has the shape {list(part.shape)}, but is a part along axis {axis} of {list(whole)}"
            yield Fault("T247", message)
    total = sum(part.shape[axis] for _, part in parts)
    if total != whole[axis]:
        yield Fault("T247", f"its parts come to {total:,} along axis {axis} of {list(whole)}")


def _axis_faults(axes: Sequence[int], shape: Sequence[int]) -> Iterator[Fault]:
    for axis in axes:
        if not -len(shape) <= axis < len(shape):
            yield Fault("T249", f"it works along axis {axis} of a tensor of shape {list(shape)}")


_MOST_SHOWN = 16
"""Numbers in a message."""


def _shown(numbers: Sequence[int]) -> str:
    return str(list(numbers)) if len(numbers) <= _MOST_SHOWN else f"{len(numbers):,} numbers"
