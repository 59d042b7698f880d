"""Operands that are stretched to the shape of the output, along axes of size 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from usmp_build.interfaces.kernels import Input, Kernel, Operand, Output, Value
from usmp_build.ir.graph import Tensor
from usmp_build.kernels.nest import Fields, Nest, Span, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.portable.pieces import KernelOf, elementwise, piece_by_piece

MOST_AXES = 5
"""In the tables that C reads."""


class Axis(NamedTuple):
    """An axis of the output, and how far one step along it moves in each operand."""

    size: int
    steps: tuple[int, ...]


def output_axes(node: Node, *operands: Tensor) -> list[Axis]:
    """Return the output's axes, each with the steps of all operands."""
    output = node.output
    rank = len(output.shape)
    steps = []
    for operand in operands:
        node.expect(len(operand.shape) <= rank, "has an input with more dimensions than its output")
        shape = (1,) * (rank - len(operand.shape)) + operand.shape
        fits = all(size in (1, output_size) for size, output_size in zip(shape, output.shape, strict=True))
        node.expect(fits, f"cannot stretch {list(operand.shape)} to {list(output.shape)}")
        steps.append(_steps(shape))
    return [Axis(size, each) for size, each in zip(output.shape, zip(*steps, strict=True), strict=True)]


def _steps(shape: Sequence[int]) -> list[int]:
    """Elements from one index to the next along each axis; 0 where there is only one."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step if size > 1 else 0)
        step *= size
    return steps[::-1]


def merged(axes: Sequence[Axis], operands: int = 2) -> list[Axis]:
    """Merge adjacent axes that all operands cross in equal steps; the result is never empty.

    >>> merged([Axis(2, (12, 0)), Axis(3, (4, 0)), Axis(4, (1, 1))])
    [Axis(size=6, steps=(4, 0)), Axis(size=4, steps=(1, 1))]
    """
    result: list[Axis] = []
    for axis in axes:
        if axis.size == 1:
            continue
        if result and result[-1].steps == tuple(step * axis.size for step in axis.steps):
            axis = axis._replace(size=result.pop().size * axis.size)
        result.append(axis)
    return result or [Axis(1, (1,) * operands)]


def padded(axes: Sequence[Axis]) -> list[Axis]:
    """Return as many axes as a table has; those in front have one step."""
    if len(axes) > MOST_AXES:
        raise Unsupported(f"it stretches its inputs along more than {MOST_AXES + 1} groups of axes")
    return [Axis(1, (0,) * len(axes[0].steps))] * (MOST_AXES - len(axes)) + [*axes]


def stretched(node: Node, axes: Sequence[Axis], operands: Sequence[Input], kernel_of: KernelOf) -> Kernel:
    """Return what `elementwise` does; where there is one group of axes more than a table has, a call for each index of
    the first one, which moves along no constant: pieces are parts of what is in workspace.

    `axes` are those of the output, with the steps of these operands.
    """
    outer, *inner = merged(axes, len(operands))
    if len(inner) < MOST_AXES:
        return elementwise(node, kernel_of)
    steps: dict[Operand, int] = {each: step for each, step in zip(operands, outer.steps, strict=True) if step}
    if any(node.tensor(each).is_constant for each in operands if each in steps):
        raise Unsupported(f"it takes a constant along the first of {MOST_AXES + 1} groups of axes")
    count = next(count for count in range(len(axes), 0, -1) if len(merged(axes[-count:], len(operands))) == len(inner))
    return piece_by_piece(kernel_of(count), outer.size, steps | {Output(0): prod(axis.size for axis in inner)})


def table(axes: Iterable[Axis], *operands: int) -> tuple[int, ...]:
    """Return size and steps of each axis, one after the other; of these operands, if any are given."""
    return tuple(
        number
        for axis in axes
        for number in (axis.size, *([axis.steps[operand] for operand in operands] if operands else axis.steps))
    )


def broadcast(axes: Sequence[Axis], operands: Sequence[Input], *others: Span) -> Nest:
    """Return the nest over axes of the output, with the steps of operands; `others` are spans of further ones."""
    names = [f"axis_{number}" for number in range(len(axes))]
    steps = zip(*(axis.steps for axis in axes), strict=True)
    spans = (
        reads(operand, 1, dict(zip(names, each, strict=True))) for operand, each in zip(operands, steps, strict=True)
    )
    sizes = dict(zip(names, (axis.size for axis in axes), strict=True))
    return Nest(sizes, (*spans, *others, writes(Output(0))))


def in_pairs(
    node: Node,
    function: str,
    fields: Fields = (),
    struct: str = "pairs",
    operands: tuple[Input, ...] = (Input(0), Input(1)),
) -> Kernel:
    """Return the kernel of a function of the elements of two operands that belong together, in c/pairs.h.

    A third operand has axes of its own.  `fields` are parameters after the number of elements and the axes.
    """
    axes = output_axes(node, *map(node.tensor, operands))

    def kernel_of(count: int) -> Kernel:
        innermost = merged(axes[-count:], len(operands))
        places = padded(innermost)
        tables: list[tuple[str, Value]] = [("axes", table(places, *range(len(operands))[-2:]))]
        if len(operands) > 2:
            tables.append(("condition_axes", table(places, 0, 0)))
        counts = ("size", prod(axis.size for axis in places)), *tables
        return kernel(node, function, broadcast(innermost, operands), (*counts, *fields), struct=struct)

    return stretched(node, axes, operands, kernel_of)
