"""Blocks of bytes that move along axes: what slices, transpositions, broadcasts and the like have in common.

reversed rows of [2, 3]     Move(size=1, (Axis(2, 3, 3), Axis(3, -1, 1)), source=2)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, KernelCall, Output, Traffic
from usmp_build.kernels.nest import Nest, aside, call_in_bytes, reads, writes
from usmp_build.kernels.portable.copies import copy
from usmp_build.kernels.requantization import int32_constant

_AXIS_BYTES = 12
"""Of an axis in the table: size and two steps."""


class Axis(NamedTuple):
    """An axis along which blocks lie; steps are bytes from one index to the next."""

    extent: int
    source: int
    target: int


class Move(NamedTuple):
    """Blocks of `size` bytes along axes, the innermost last; the first block is at offsets in source and target."""

    size: int
    axes: tuple[Axis, ...]
    source: int = 0
    target: int = 0


def byte_steps(shape: Sequence[int], width: int) -> list[int]:
    """Return the bytes from one index to the next along each axis of a contiguous tensor.

    >>> byte_steps((2, 3, 4), 2)
    [24, 8, 2]
    """
    return [width * prod(shape[axis + 1 :]) for axis in range(len(shape))]


def moves(parts: Iterable[Move]) -> Kernel:
    """Return the kernel that makes moves from the first input to the first output, one after the other."""
    calls: list[KernelCall] = []
    tables: list[Constant] = []
    for part in map(_merged, parts):
        if len(part.axes) < 2:
            calls.append(_copied(part))
        else:
            calls.append(_moved(part, len(tables)))
            name = f"axes_{len(tables)}" if tables else "axes"
            tables.append(int32_constant(name, (number for axis in part.axes[:-1] for number in axis)))
    return Kernel(tuple(calls), tuple(tables))


def _copied(part: Move) -> KernelCall:
    (axis,) = part.axes or (Axis(1, part.size, part.size),)
    return copy(
        Input(0),
        Output(0),
        axis.extent,
        part.size,
        input_offset=part.source,
        input_pitch=axis.source,
        output_offset=part.target,
        output_pitch=axis.target,
    )


def _moved(part: Move, table: int) -> KernelCall:
    *outer, inner = part.axes
    lines = prod(axis.extent for axis in outer)
    fields = (
        ("size", part.size),
        ("count", inner.extent),
        ("input_step", inner.source),
        ("output_step", inner.target),
        ("lines", lines),
        ("axes", len(outer)),
        ("input_offset", part.source),
        ("output_offset", part.target),
    )
    names = [f"axis_{number}" for number in range(len(part.axes))]
    extents, sources, targets = (dict(zip(names, numbers, strict=True)) for numbers in zip(*part.axes, strict=True))
    spans = (
        reads(Input(0), part.size, sources, part.source),
        aside(Derived(table)),
        writes(Output(0), part.size, targets, part.target),
    )
    return call_in_bytes(
        "move", Nest(extents, spans), fields, {Derived(table): Traffic(_AXIS_BYTES * len(outer) * lines)}
    )


def _merged(part: Move) -> Move:
    """Make blocks as long and axes as few as possible.

    >>> _merged(Move(1, (Axis(2, 24, 6), Axis(1, 9, 9), Axis(2, 6, 3), Axis(3, 1, 1)), 8))
    Move(size=3, axes=(Axis(extent=2, source=24, target=6), Axis(extent=2, source=6, target=3)), source=8, target=0)
    >>> _merged(Move(1, (Axis(2, 24, 12), Axis(2, 12, 6), Axis(6, 1, 1))))
    Move(size=6, axes=(Axis(extent=4, source=12, target=6),), source=0, target=0)
    """
    size, axes = part.size, list[Axis]()
    for axis in reversed(part.axes):
        if axis.extent == 1:
            continue
        if not axes and axis.source == axis.target == size:
            size *= axis.extent
        elif axes and axis[1:] == (axes[0].extent * axes[0].source, axes[0].extent * axes[0].target):
            axes[0] = axes[0]._replace(extent=axes[0].extent * axis.extent)
        else:
            axes.insert(0, axis)
    return part._replace(size=size, axes=tuple(axes))
