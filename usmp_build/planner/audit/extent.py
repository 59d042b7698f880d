"""What buffers need that may share bytes, by putting one on top of the other in every order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

_MOST = 8

Distances = Mapping[tuple[int, int], int]
"""(a, b) → how far b starts behind a where it is above it, for each pair both ways."""


def shared_extent(sizes: Sequence[int], distances: Distances) -> int | None:
    """Return where the last buffer ends in the best order; None when there are too many to try, or order says nothing.

    Where some could each be behind the next one in a circle, they need not have an order.
    """
    members = range(len(sizes))
    held = {(a, b): apart for (a, b), apart in distances.items() if apart + distances[b, a] > 0}
    if len(sizes) > _MOST or _circle(len(sizes), held):
        return None
    return min(_stacked(order, sizes, held) for order in permutations(members))


def _stacked(order: Sequence[int], sizes: Sequence[int], held: Distances) -> int:
    offsets: dict[int, int] = {}
    for index in order:
        offsets[index] = max([0, *(offsets[a] + held[a, index] for a in offsets if (a, index) in held)])
    return max(offsets[index] + sizes[index] for index in order)


def _circle(count: int, held: Distances) -> bool:
    """Whether some circle sums up to 0 or less: then the best way back to somebody, in `count` steps or fewer, does."""
    for start in range(count):
        best = {start: 0}
        for _ in range(count):
            step: dict[int, int] = {}
            for (a, b), apart in held.items():
                if a in best:
                    step[b] = min(step.get(b, best[a] + apart), best[a] + apart)
            if step.get(start, 1) <= 0:
                return True
            best = step
    return False
