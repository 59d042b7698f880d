"""Physical axes: what of a tensor's shape its memory sees.

Separators stand between the axes of a tensor.  Those between two separators become one physical axis:

    shape        [2, 3, 5, 7, 11, 13]      separators [3]
    physical     [2*3*5,   7*11*13]        element i is at row i0*15 + i1*5 + i2, column i3*143 + i4*13 + i5

Plain memory has one axis, so no separators; memory of pages has two or more: the last one is what is in a row, and
those in front of it count the rows.  (TVM's RFC 0039, "buffer physical layout", and its pass FlattenBuffer.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from usmp_build.ir.graph import TensorRef
from usmp_build.units import align_up

Extent: TypeAlias = int | str
"""Elements along an axis: a number, or what is written for a number that is not known, for example "n"."""


@dataclass(frozen=True, slots=True)
class PhysicalAxes:
    """How a tensor lies in memory of as many axes as `shape` has."""

    shape: tuple[Extent, ...]
    terms: tuple[tuple[tuple[int, Extent], ...], ...]
    """For each physical axis the logical ones in it, each with the distance from one index to the next."""

    @property
    def separators(self) -> tuple[int, ...]:
        """Where they are now: between any two physical axes, so that the axes of this shape stay as they are."""
        return tuple(range(1, len(self.shape)))

    @property
    def index(self) -> tuple[str, ...]:
        """Where element [i0, i1, ...] is along each physical axis, for people: `i0*16+i1`."""
        return tuple("+".join(_term(axis, step) for axis, step in group) or "0" for group in self.terms)


@dataclass(frozen=True, slots=True)
class RowTable:
    """A tensor in memory of pages: its rows lie anywhere, each in whole pages, and a table has pointers to them."""

    rows: int
    elements: int
    """Of a row."""
    page: int
    """Bytes."""
    outer: tuple[int, ...] = ()
    """Where several physical axes count the rows: their extents, row by row the last of them first; else empty."""
    why: str = field(default="", compare=False)
    """Who decides on the rows, and where axis separators end, for people."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The physical shape: the axes that count rows, and the elements of one."""
        return (*(self.outer or (self.rows,)), self.elements)

    def row_size(self, bits: int) -> int:
        """Return the bytes that a row takes, whole pages, where an element has so many bits."""
        return align_up((self.elements * bits + 7) // 8, self.page)


Axes: TypeAlias = Mapping[TensorRef, RowTable]
"""The tensors in memory of pages; all others lie in plain memory, along one axis.  Views are as their source."""


def physical_axes(
    shape: Sequence[Extent], separators: Sequence[int] = (), strides: Sequence[Extent] = ()
) -> PhysicalAxes:
    """Cut `shape` at `separators`, which do not descend and lie in [0, rank]; two at one place make an axis of one.

    With `strides`, in elements, the last index of a group need not be next to the first of the following row.
    Raises ValueError, a clause about the separators or strides, when they do not go with the shape.
    """
    _check(len(shape), separators, strides)
    borders = [0, *separators, len(shape)]
    groups = [range(start, stop) for start, stop in pairwise(borders)]
    steps = tuple(strides) or _dense(shape, groups)
    extents = tuple(_product((shape[group[0]], steps[group[0]])) if group else 1 for group in groups)
    return PhysicalAxes(extents, tuple(tuple((axis, steps[axis]) for axis in group) for group in groups))


def _check(rank: int, separators: Sequence[int], strides: Sequence[Extent]) -> None:
    if any(later < earlier for earlier, later in pairwise(separators)):
        raise ValueError(f"the separators {list(separators)} descend")
    for separator in separators:
        if not 0 <= separator <= rank:
            raise ValueError(f"the separator {separator} is outside of [0, {rank}], the axes of the tensor")
    if strides and len(strides) != rank:
        raise ValueError(f"there are {len(strides)} strides for {rank} axes")


def _dense(shape: Sequence[Extent], groups: Sequence[range]) -> tuple[Extent, ...]:
    """Row-major within each group."""
    steps: list[Extent] = [1] * len(shape)
    for group in groups:
        for axis in group:
            steps[axis] = _product(shape[axis + 1 : group.stop])
    return tuple(steps)


def _product(extents: Sequence[Extent]) -> Extent:
    """Multiply what is known, and write down the rest.

    >>> _product((3, 4)), _product(("n", 3, 2)), _product(("n", 1)), _product(())
    (12, '6*n', 'n', 1)
    """
    number = 1
    names = []
    for extent in extents:
        if isinstance(extent, int):
            number *= extent
        else:
            names.append(extent)
    if not names or number == 0:
        return number
    return "*".join([str(number)] * (number != 1) + names)


def _term(axis: int, step: Extent) -> str:
    return f"i{axis}" if step == 1 else f"i{axis}*{step}"
