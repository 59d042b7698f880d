"""Computes the possible rows of one tensor in memory of pages.

    shape [1, 8, 8, 12]     rows of 12            rows of 96              rows of 768
                            64 of them            8 of them               1
                            the default           a convolution that      what a fully connected
                                                  takes rows of pictures  layer reads at once

A row holds the last axes, so its possible lengths are the products of the last extents.  Every operator that touches
the tensor restricts them: a row must be a multiple of the piece that its kernel takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from usmp_build.frozen import frozen
from usmp_build.ir.axes import physical_shape
from usmp_build.ir.graph import Tensor


@frozen
class RowCut:
    """The rows of a tensor."""

    elements: int
    """Elements of a row."""
    outer: tuple[int, ...] = ()
    """Extents of the physical axes that count the rows; empty if there is only one."""
    why: str = ""
    """What decides them, for messages."""


def marked(tensor: Tensor, separators: Sequence[int], dims: int = 2) -> RowCut:
    """Return the rows that separators make; without any, one row that holds everything.

    Raises ValueError, a clause, if they do not fit the shape, or make more axes than the memory's `dims`.
    """
    shape = physical_shape(tensor.shape, separators)
    if len(shape) > dims:
        raise ValueError(f"the separators {list(separators)} make {len(shape)} axes, and its memory has {dims}")
    return RowCut(max(1, shape[-1]), shape[:-1] if len(shape) > 2 else ())


def possible_rows(tensor: Tensor) -> list[int]:
    """Return the possible elements of a row, ascending: from the last axis alone, the default, to all axes."""
    return [max(1, prod(tensor.shape[axis:])) for axis in reversed(range(max(1, len(tensor.shape))))]
