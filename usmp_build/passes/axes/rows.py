"""One tensor in memory of pages: how long are its rows?

    shape [1, 8, 8, 12]     rows of 12            rows of 96              rows of 768
                            64 of them            8 of them               1
                            the default           a convolution that      what a fully connected
                                                  takes rows of pictures  layer reads at once

Rows are what the last axes hold, so the rows of a tensor are the products of its last extents.  Every operator that
touches it has a say: rows must divide into the pieces that its kernel takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from usmp_build.ir.axes import physical_axes
from usmp_build.ir.graph import Tensor


def marked_row(tensor: Tensor, separators: Sequence[int]) -> int:
    """Return the elements of the rows that separators ask for; without any, of one row that holds everything.

    Raises ValueError, a clause, when they do not go with the shape, or make more axes than pages have.
    """
    shape = physical_axes(tensor.shape, separators).shape
    if len(shape) > 2:
        raise ValueError(f"the separators {list(separators)} make {len(shape)} axes, and memory of pages has 2")
    return max(1, int(shape[-1]))


def possible_rows(tensor: Tensor) -> list[int]:
    """Return the elements that a row may have, ascending: from the last axis alone, the default, to all of them."""
    return [max(1, prod(tensor.shape[axis:])) for axis in reversed(range(max(1, len(tensor.shape))))]
