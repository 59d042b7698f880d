"""Physical axes: the shape of a tensor in its memory, which groups its logical axes.

Separators stand between the axes of a tensor.  Those between two separators become one physical axis:

    shape        [2, 3, 5, 7, 11, 13]      separators [3]
    physical     [2*3*5,   7*11*13]

Plain memory has one axis, so no separators; memory of pages has two or more: the last one is the contents of a
row, and those in front of it count the rows.  (TVM's RFC 0039, "buffer physical layout", and its pass FlattenBuffer.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from math import prod
from typing import TypeAlias

from usmp_build.frozen import frozen
from usmp_build.ir.graph import TensorRef
from usmp_build.units import align_up


@frozen
class RowTable:
    """A tensor in memory of pages: each row is anywhere, in whole pages, and a table has pointers to the rows."""

    rows: int
    elements: int
    """Elements of a row."""
    page: int
    """Bytes of a page."""
    outer: tuple[int, ...] = ()
    """Extents of the physical axes that count the rows, in row-major order, if there are several; else empty."""
    moved: tuple[int, ...] = ()
    """The rows that move while a model runs, each as often as it does: their places are numbered behind the rows."""
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


def physical_shape(shape: Sequence[int], separators: Sequence[int]) -> tuple[int, ...]:
    """Return the extents of the physical axes of a shape; two equal separators make an axis of extent 1.

    Raises ValueError, a clause, if separators descend or are outside of the shape.
    """
    if any(later < earlier for earlier, later in pairwise(separators)):
        raise ValueError(f"the separators {list(separators)} descend")
    for separator in separators:
        if not 0 <= separator <= len(shape):
            raise ValueError(f"the separator {separator} is outside of [0, {len(shape)}], the axes of the tensor")
    return tuple(prod(shape[start:stop]) for start, stop in pairwise([0, *separators, len(shape)]))
