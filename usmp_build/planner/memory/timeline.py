"""Memory problems with very many buffers in one pool: arrays of numbers, from which conflicts follow.

Two buffers conflict when they are alive at one step.  A million of them have too many pairs to list, and need no names.

    offset ^         ________
           |        |   1    |       lower  [0, 2]
           |   _____|________|       upper  [3, 5]
           |  |   0    |             0 and 1 conflict, for both are alive at step 2
           |  |________|
           +--0-----2--3-----5--> step
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from usmp_build.units import MAX_SUM

Array = npt.NDArray[np.int64]


def most_together(count: int) -> int:
    """Return the most bytes that `count` buffers may have together, alignments included.

    Planning adds up bytes over buffers, and those sums over as many steps; the result must be exact in 64 bits.
    """
    return MAX_SUM // max(64, count)


def are_powers_of_two(alignment: Array) -> bool:
    """Return whether all alignments are powers of two, as a timeline requires."""
    return bool(((alignment > 0) & (alignment & (alignment - 1) == 0)).all())


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """Buffers to be placed in one pool.  Every array has shape (buffers,), and must not be changed."""

    lower: Array
    """The first step at which it holds data."""
    upper: Array
    """The step after the last."""
    size: Array
    """Bytes; may be 0."""
    alignment: Array
    """Its offset is a multiple of this power of two, in bytes."""
    limit: int | None = None
    """Bytes of the pool that may be used; None means as many as needed."""

    def __post_init__(self) -> None:
        """Raise ValueError for arrays that are no timeline."""
        count = len(self.lower)
        for field in fields(self)[:4]:
            array = getattr(self, field.name)
            if array.dtype != np.int64 or array.shape != (count,):
                raise ValueError(f'"{field.name}" has to be an array of int64 with one dimension, as long as "lower"')
        if (self.lower >= self.upper).any():
            raise ValueError("a buffer has to be alive for a step at least")
        if (self.size < 0).any():
            raise ValueError("no size is negative")
        if not are_powers_of_two(self.alignment):
            raise ValueError("alignments are powers of two")
        if sum(self.size.tolist()) + sum(self.alignment.tolist()) > most_together(count):
            raise ValueError("the sizes of these buffers cannot be added up in 64 bits")

    def __len__(self) -> int:
        """Return how many buffers there are."""
        return len(self.lower)

    def peak(self, offsets: Array) -> int:
        """Return the bytes that a plan uses."""
        return int((offsets + self.size).max(initial=0))
