"""STRIDED_SLICE: copies of runs at equal distances."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import NamedTuple

from usmp_build.interfaces.kernels import Input, Kernel, Output
from usmp_build.kernels.reference.copies import check_types, copy
from usmp_build.kernels.reference.node import Node, Unsupported
from usmp_build.operators.slicing import StridedSlice, Taken, shape_left, strided

_MOST_COPIES = 32


class _Axis(NamedTuple):
    """What is taken along an axis: how often, and the bytes from one to the next."""

    length: int
    step: int


def strided_slice(node: Node) -> Kernel:
    """Takes elements at a fixed stride along each axis."""
    source, output = node.input(0), node.output
    check_types(source, output)
    taken = _taken(node)
    offset, size, axes = _runs(source.shape, taken, source.dtype.bits // 8)
    *outer, inner = axes or [_Axis(1, size)]
    if prod(axis.length for axis in outer) > _MOST_COPIES:
        raise Unsupported(f"it cuts its input into more than {_MOST_COPIES} groups of runs")
    places = product(*(range(0, axis.length * axis.step, axis.step) for axis in outer))
    each = inner.length * size
    calls = (
        copy(
            Input(0),
            Output(0),
            inner.length,
            size,
            input_offset=offset + sum(place),
            input_pitch=inner.step,
            output_offset=number * each,
        )
        for number, place in enumerate(places)
    )
    return Kernel(tuple(calls))


def _taken(node: Node) -> Taken:
    """Return the indices along each axis."""
    options, shape = node.options(StridedSlice), node.input(0).shape
    if options.ellipsis_mask or options.new_axis_mask or options.offset:
        raise Unsupported("it has an ellipsis, new axes, or ends relative to the begins")
    names = ("begins", "ends", "strides")
    numbers = [node.integers(position, name) for position, name in enumerate(names, 1)]
    node.expect(
        all(len(each) == len(shape) for each in numbers), f"does not have {len(shape)} begins, ends and strides"
    )
    node.expect(0 not in numbers[2], "has a stride of 0")
    taken = strided(options, shape, *numbers)
    node.expect(taken is not None, "takes one index of an axis that does not have it")
    taken = taken or ()
    left = shape_left(options, taken)
    node.expect(left == node.output.shape, f"makes a tensor of shape {list(left)}, not {list(node.output.shape)}")
    return taken


def _runs(shape: tuple[int, ...], taken: Taken, width: int) -> tuple[int, int, list[_Axis]]:
    """Return where the first run begins, its bytes, and the axes along which runs lie; outer ones first.

    >>> _runs((2, 4, 6), (range(2), range(1, 3), range(2, 5)), 1)
    (8, 3, [_Axis(length=2, step=24), _Axis(length=2, step=6)])
    >>> _runs((2, 4, 6), (range(2), range(0, 4, 2), range(6)), 1)
    (0, 6, [_Axis(length=4, step=12)])
    """
    offset, pitch, size = 0, width, width
    axes: list[_Axis] = []
    for length, along in reversed(list(zip(shape, taken, strict=True))):
        offset += along.start * pitch
        step = along.step * pitch
        if len(along) > 1 and not axes and step == size:
            size *= len(along)
        elif len(along) > 1 and axes and step == axes[0].length * axes[0].step:
            axes[0] = _Axis(axes[0].length * len(along), axes[0].step)
        elif len(along) > 1:
            axes.insert(0, _Axis(len(along), step))
        pitch *= length
    return offset, size, axes


KERNELS = {"STRIDED_SLICE": strided_slice}
