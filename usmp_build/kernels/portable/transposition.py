"""TRANSPOSE."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import NamedTuple

from usmp_build.interfaces.kernels import Input, Kernel, Output
from usmp_build.kernels.nest import Nest, kernel, reads, rows_of, writes
from usmp_build.kernels.node import Node
from usmp_build.kernels.portable.copies import check_types
from usmp_build.kernels.portable.moves import Axis, Move, byte_steps, moves
from usmp_build.kernels.window import Slide, Under

_MOST_AXES = 4
"""Along which the runs of an output row lie, in c/transpose.h."""
_MOST_ROWS = 32
"""Most input rows that an output row is made of: the generated code keeps a pointer to each on the stack."""


class RowAxis(NamedTuple):
    """An axis of the output, or several that are neighbors in the input, too."""

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


def row_by_row(node: Node, images: int, down: Slide, length: int, axes: list[RowAxis]) -> Kernel:
    """Return the kernel that makes one output row in a call, of runs along at most four axes.

    The input rows under a window, of `length` elements each, have them.
    """
    size, width = 1, node.input(0).dtype.bits // 8
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
    names = [f"axis_{number}" for number in range(_MOST_AXES)]
    along = dict(zip(names, steps, strict=True))
    in_image: dict[str, int | Under] = {"images": down.size * length, "rows": down.under(length)}
    read = replace(reads(Input(0), size, in_image | along), rows=rows)
    inside = dict(zip(names, extents, strict=True))
    nest = Nest({"images": images, "rows": down.output, **inside}, (read, writes(Output(0), size)))
    form = rows_of(nest, untyped=True)
    return kernel(node, "transpose_row", nest, fields, form=form)


def _order(node: Node) -> list[int]:
    """Return for each axis of the output which axis of the input it is."""
    shape, order = node.input(0).shape, node.integers(1, "axes")
    rank = len(shape)
    order = [axis % rank if -rank <= axis < rank else rank for axis in order]
    node.expect(sorted(order) == [*range(rank)], "does not name each axis of its input once")
    turned = tuple(shape[axis] for axis in order)
    node.expect(turned == node.output.shape, f"makes a tensor of shape {list(turned)}, not {list(node.output.shape)}")
    return order


def _by_rows(shape: tuple[int, ...], order: list[int]) -> tuple[int, Slide, int, list[RowAxis]] | None:
    """Return images, rows and their length, and the axes of an output row.

    None where rows are of no use, or have too many axes.

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
    down = Slide(window * count, count, window, dilation=count)
    merged = _merged(axes)
    is_run = merged[-1:] and (merged[-1].rows, merged[-1].step) == (0, 1)
    return (1, down, length, merged) if len(merged) - bool(is_run) <= _MOST_AXES else None


def _merged(axes: list[tuple[int, int, int]]) -> list[RowAxis]:
    """Merge axes that are neighbors in the input, too, and leave out those of one index.

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
