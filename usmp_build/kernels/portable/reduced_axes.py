"""Axes that are reduced, and those that are kept: what the C in `c/reduce.h` walks along."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Output, Parameters, Value, Whole
from usmp_build.kernels.node import Node, Unsupported

_MOST_AXES = 3
"""Of each kind in the parameters."""


class Axis(NamedTuple):
    """An axis of the input, or several that lie side by side."""

    size: int
    step: int


class Split(NamedTuple):
    """The axes of an input."""

    kept: tuple[Axis, ...]
    reduced: tuple[Axis, ...]

    @property
    def size(self) -> int:
        """Number of elements that become one."""
        return prod(axis.size for axis in self.reduced)


def reduced_axes(node: Node) -> set[int]:
    """Return the axes that the second input names, from 0 on."""
    shape, axes = node.input(0).shape, node.integers(1, "axes")
    node.expect(all(-len(shape) <= axis < len(shape) for axis in axes), "works along axes that its input lacks")
    return {axis % len(shape) for axis in axes}


def split(shape: Sequence[int], reduced: Iterable[int]) -> Split:
    """Return the axes of a shape, neighbours of one kind merged.

    >>> split((2, 3, 4, 5), {1, 2})
    Split(kept=(Axis(size=2, step=60), Axis(size=5, step=1)), reduced=(Axis(size=12, step=5),))
    """
    axes_by_kind: tuple[list[Axis], list[Axis]] = [], []
    gone, step, last = set(reduced), 1, None
    for axis in reversed(range(len(shape))):
        if shape[axis] > 1:
            kind = axis in gone
            inner = axes_by_kind[kind].pop() if kind == last else Axis(1, step)
            axes_by_kind[kind].append(Axis(shape[axis] * inner.size, inner.step))
            last = kind
        step *= shape[axis]
    kept, taken = (tuple(reversed(axes)) for axes in axes_by_kind)
    if max(len(kept), len(taken)) > _MOST_AXES:
        raise Unsupported(f"it works along more than {_MOST_AXES} groups of axes")
    return Split(kept, taken)


def along_axes(node: Node, axes: Split, function: str, struct: str, *fields: tuple[str, Value]) -> Kernel:
    """Return the kernel of a function that makes each output from all of its elements.

    `fields` are its parameters after the axes.
    """
    source, output = node.input(0), node.output
    node.expect(output.elements * axes.size == source.elements, "makes another number of elements than its output")
    kept, reduced = _padded(axes.kept), _padded(axes.reduced)
    common: tuple[tuple[str, Value], ...] = (
        ("outputs", output.elements),
        ("count", axes.size),
        ("kept", tuple(number for axis in kept for number in axis)),
        ("reduced", tuple(number for axis in reduced for number in axis)),
    )
    widths = tuple(tensor.dtype.bits // 8 for tensor in (source, output))
    call = KernelCall(
        function,
        Whole(),
        (Input(0), Output(0)),
        Parameters(struct, (*common, *fields)),
        accesses=_accesses(kept, reduced, widths),
    )
    return Kernel((call,))


def _padded(axes: tuple[Axis, ...]) -> list[Axis]:
    """Return as many axes as the parameters have; those in front have one step."""
    return [Axis(1, 0)] * (_MOST_AXES - len(axes)) + list(axes)


def _accesses(kept: list[Axis], reduced: list[Axis], widths: tuple[int, ...]) -> Accesses:
    """In each turn all elements of an output; the last loop, of one round, is where their axes begin."""
    sizes = tuple(axis.size for axis in kept)
    strides = tuple(prod(sizes[axis + 1 :]) for axis in range(len(sizes)))
    windows = tuple(Window(len(sizes), axis.step, axis.size, axis.size) for axis in reduced if axis.size > 1)
    read = Touch(0, 1, tuple(axis.step for axis in kept), windows=windows)
    return Accesses((Part((*sizes, 1), (read, Touch(1, 1, strides, writes=True))),), widths)
