"""Physical axes: the shape of a tensor in its memory, which groups its logical axes.

Separators stand between the axes of a tensor.  Those between two separators become one physical axis:

    shape        [2, 3, 5, 7, 11, 13]      separators [3]
    physical     [2*3*5,   7*11*13]        element i is at row i0*15 + i1*5 + i2, column i3*143 + i4*13 + i5

Plain memory has one axis, so no separators; memory of pages has two or more: the last one is the contents of a
row, and those in front of it count the rows.  (TVM's RFC 0039, "buffer physical layout", and its pass FlattenBuffer.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from usmp_build.ir.graph import TensorRef
from usmp_build.units import align_up

Extent: TypeAlias = int | str
"""Elements along an axis: a number, or a name for an unknown number, such as "n"."""


@dataclass(frozen=True, slots=True)
class PhysicalAxes:
    """The layout of a tensor in memory with as many axes as `shape`."""

    shape: tuple[Extent, ...]
    terms: tuple[tuple[tuple[int, Extent], ...], ...]
    """For each physical axis its logical axes, each with its stride in elements."""

    @property
    def separators(self) -> tuple[int, ...]:
        """The separators of the physical shape itself: between any two axes, so that it does not change."""
        return tuple(range(1, len(self.shape)))

    @property
    def index(self) -> tuple[str, ...]:
        """Index of element [i0, i1, ...] along each physical axis, as text: `i0*16+i1`."""
        return tuple("+".join(_term(axis, step) for axis, step in group) or "0" for group in self.terms)


@dataclass(frozen=True, slots=True)
class RowTable:
    """A tensor in memory of pages: each row is anywhere, in whole pages, and a table has pointers to the rows."""

    rows: int
    elements: int
    """Elements of a row."""
    page: int
    """Bytes of a page."""
    outer: tuple[int, ...] = ()
    """Extents of the physical axes that count the rows, in row-major order, if there are several; else empty."""
    why: str = field(default="", compare=False)
    """What decides the rows, and where axis separators end, for messages."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The physical shape: the axes that count rows, and the elements of one."""
        return (*(self.outer or (self.rows,)), self.elements)

    def row_size(self, bits: int) -> int:
        """Return the bytes of a row with elements of `bits` bits, in whole pages."""
        return align_up((self.elements * bits + 7) // 8, self.page)


Axes: TypeAlias = Mapping[TensorRef, RowTable]
"""The tensors in memory of pages; all others are in plain memory, with one axis.  Views are like their source."""


def physical_axes(
    shape: Sequence[Extent], separators: Sequence[int] = (), strides: Sequence[Extent] = ()
) -> PhysicalAxes:
    """Cut `shape` at `separators`, ascending and within [0, rank]; two equal ones make an axis of extent 1.

    With `strides`, in elements, the last index of a group need not be next to the first of the following row.
    Raises ValueError, a clause about the separators or strides, if they do not fit the shape.
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
    """Return row-major strides within each group."""
    steps: list[Extent] = [1] * len(shape)
    for group in groups:
        for axis in group:
            steps[axis] = _product(shape[axis + 1 : group.stop])
    return tuple(steps)


def _product(extents: Sequence[Extent]) -> Extent:
    """Multiply the numbers, and keep the names as text.

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
