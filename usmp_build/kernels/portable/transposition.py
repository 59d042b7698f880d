"""TRANSPOSE."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from usmp_build.interfaces.accesses import Accesses, Part, Touch
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Output, Parameters, Rows
from usmp_build.kernels.node import Node
from usmp_build.kernels.portable.copies import check_types
from usmp_build.kernels.portable.moves import Axis, Move, byte_steps, moves

_MOST_AXES = 4
"""Along which the runs of an output row lie, in c/transpose.h."""
_MOST_ROWS = 32
"""Most input rows that an output row is made of: the generated code keeps a pointer to each on the stack."""


class RowAxis(NamedTuple):
    """An axis of the output, or several that are neighbours in the input, too."""

    extent: int
    rows: int
    """From one index to the next, further input rows among those that the output row is made of."""
    step: int
    """Further elements in the input row."""


def transpose(node: Node) -> Kernel:
    """The axes in another order: where few input rows have all of an output row, it goes row by row.

    [1, C, H, W] -> [1, H, W, C]      output row y is made of rows y, H + y, 2 * H + y, ... of C * H input rows
    """
    source, output = node.streamed(), node.output
    check_types(source, output)
    order = _order(node)
    width = source.dtype.bits // 8
    by_rows = _by_rows(source.shape, order)
    return moves([_whole(source.shape, order, width)]) if by_rows is None else row_by_row(node, *by_rows)


def _whole(shape: tuple[int, ...], order: list[int], width: int) -> Move:
    """Return the move of all elements at once."""
    sources, targets = byte_steps(shape, width), byte_steps([shape[axis] for axis in order], width)
    axes = (Axis(shape[axis], sources[axis], target) for axis, target in zip(order, targets, strict=True))
    return Move(width, tuple(axes))


def row_by_row(node: Node, form: Rows, axes: list[RowAxis]) -> Kernel:
    """Return the kernel that makes one output row in a call, of runs along at most four axes."""
    source, size = node.input(0), 1
    width = source.dtype.bits // 8
    if axes[-1:] and axes[-1].rows == 0 and axes[-1].step == 1:
        size = axes.pop().extent
    axes = [RowAxis(1, 0, 0)] * (_MOST_AXES - len(axes)) + axes
    extents, rows, steps = zip(*axes, strict=True)
    fields = (
        ("size", size * width),
        ("extents", extents),
        ("rows", rows),
        ("steps", tuple(step * width for step in steps)),
    )
    parameters = Parameters("transpose_parameters", fields)
    pitches = tuple(prod(extents[axis + 1 :]) * size for axis in range(_MOST_AXES))
    touches = (Touch(0, size, steps, rows=rows), Touch(1, size, pitches, writes=True))
    accesses = Accesses((Part(extents, touches),), (width, width))
    return Kernel((KernelCall("transpose_row", form, (Input(0), Output(0)), parameters, accesses=accesses),))


def _order(node: Node) -> list[int]:
    """Return for each axis of the output which axis of the input it is."""
    shape, order = node.input(0).shape, node.integers(1, "axes")
    rank = len(shape)
    order = [axis % rank if -rank <= axis < rank else rank for axis in order]
    node.expect(sorted(order) == [*range(rank)], "does not name each axis of its input once")
    turned = tuple(shape[axis] for axis in order)
    node.expect(turned == node.output.shape, f"makes a tensor of shape {list(turned)}, not {list(node.output.shape)}")
    return order


def _by_rows(shape: tuple[int, ...], order: list[int]) -> tuple[Rows, list[RowAxis]] | None:
    """Return the form of the call, and the axes of an output row; None where rows are of no use, or have too many axes.

    A row of the output has one index of its first axis, which all the input rows that it is made of have, too.
    """
    elements = prod(shape)
    first, *others = [axis for axis in order if shape[axis] > 1] or [0]
    count, length = shape[first], prod(shape[first + 1 :])
    window = elements // (count * length)
    if not others or window > _MOST_ROWS or length == 1:
        return None
    axes = [
        (shape[axis], prod(shape[axis + 1 : first]), 0) if axis < first else (shape[axis], 0, prod(shape[axis + 1 :]))
        for axis in others
    ]
    form = Rows(1, count, window * count, length, elements // count, window, dilation=count, untyped=True)
    merged = _merged(axes)
    is_run = merged[-1:] and (merged[-1].rows, merged[-1].step) == (0, 1)
    return (form, merged) if len(merged) - bool(is_run) <= _MOST_AXES else None


def _merged(axes: list[tuple[int, int, int]]) -> list[RowAxis]:
    """Merge axes that are neighbours in the input, too, and leave out those of one index.

    >>> _merged([(2, 0, 12), (1, 0, 4), (3, 0, 4), (4, 0, 1)])
    [RowAxis(extent=24, rows=0, step=1)]
    """
    merged: list[RowAxis] = []
    for extent, rows, step in axes:
        if merged and (merged[-1].rows, merged[-1].step) == (extent * rows, extent * step):
            merged[-1] = RowAxis(merged[-1].extent * extent, rows, step)
        elif extent > 1:
            merged.append(RowAxis(extent, rows, step))
    return merged


KERNELS = {"TRANSPOSE": transpose}
