"""Axes that are reduced, and those that are kept: what the C in `c/reduce.h` walks along."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from usmp_build.interfaces.kernels import Input, Kernel, Output, Value
from usmp_build.kernels.nest import Nest, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.window import Slide, Under

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
    """Return the axes of a shape, neighbors of one kind merged.

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
    return kernel(node, function, _nest(kept, reduced), (*common, *fields), struct=struct)


def _padded(axes: tuple[Axis, ...]) -> list[Axis]:
    """Return as many axes as the parameters have; those in front have one step."""
    return [Axis(1, 0)] * (_MOST_AXES - len(axes)) + list(axes)


def _nest(kept: list[Axis], reduced: list[Axis]) -> Nest:
    """In each turn all elements of an output: a window covers each axis that is reduced."""
    outputs = {f"kept_{number}": axis for number, axis in enumerate(kept)}
    windows = {f"reduced_{number}": axis for number, axis in enumerate(reduced) if axis.size > 1}
    along = dict[str, int | Under]({name: axis.step for name, axis in outputs.items()})
    along |= {name: Slide(axis.size, window=axis.size).under(axis.step) for name, axis in windows.items()}
    rounds = {name: axis.size for name, axis in outputs.items()} | dict.fromkeys(windows, 1)
    return Nest(rounds, (reads(Input(0), 1, along), writes(Output(0))))
