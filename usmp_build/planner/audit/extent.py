"""Bytes that buffers with separations need: the best of all orders, from the lowest to the topmost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

_MOST = 8

Distances = Mapping[tuple[int, int], int]
"""(a, b) → least distance from the start of a to that of b above it, in bytes; both ways for each pair."""


def shared_extent(sizes: Sequence[int], distances: Distances) -> int | None:
    """Return the least end of the topmost buffer over all orders; None with more than `_MOST` buffers, or cycles.

    Buffers that could each be above the next one in a cycle need not have an order.
    """
    members = range(len(sizes))
    held = {(a, b): apart for (a, b), apart in distances.items() if apart + distances[b, a] > 0}
    if len(sizes) > _MOST or _has_cycle(len(sizes), held):
        return None
    return min(_stacked(order, sizes, held) for order in permutations(members))


def _stacked(order: Sequence[int], sizes: Sequence[int], held: Distances) -> int:
    offsets: dict[int, int] = {}
    for index in order:
        offsets[index] = max([0, *(offsets[a] + held[a, index] for a in offsets if (a, index) in held)])
    return max(offsets[index] + sizes[index] for index in order)


def _has_cycle(count: int, held: Distances) -> bool:
    """Whether a cycle sums up to 0 or less: then the shortest path back to a buffer in `count` edges or fewer does."""
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
