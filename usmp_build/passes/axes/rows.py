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
from dataclasses import dataclass
from math import prod

from usmp_build.ir.axes import physical_axes
from usmp_build.ir.graph import Tensor


@dataclass(frozen=True, slots=True)
class Cut:
    """The rows of a tensor."""

    elements: int
    """Of a row."""
    outer: tuple[int, ...] = ()
    """The physical axes in front of the last one, which count the rows; empty for one that counts them all."""
    why: str = ""
    """Who decides on them, for people."""


def marked(tensor: Tensor, separators: Sequence[int], dims: int = 2) -> Cut:
    """Return the rows that separators ask for; without any, one row that holds everything.

    Raises ValueError, a clause, when they do not go with the shape, or make more axes than the memory's `dims`.
    """
    shape = physical_axes(tensor.shape, separators).shape
    if len(shape) > dims:
        raise ValueError(f"the separators {list(separators)} make {len(shape)} axes, and its memory has {dims}")
    outer = tuple(int(extent) for extent in shape[:-1])
    return Cut(max(1, int(shape[-1])), outer if len(outer) > 1 else ())


def possible_rows(tensor: Tensor) -> list[int]:
    """Return the elements that a row may have, ascending: from the last axis alone, the default, to all of them."""
    return [max(1, prod(tensor.shape[axis:])) for axis in reversed(range(max(1, len(tensor.shape))))]
