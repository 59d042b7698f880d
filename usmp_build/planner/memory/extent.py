"""The least bytes that a set of conflicting buffers takes when pairs of them may overlap.

Of two buffers in conflict, one is above the other.  Unless separations of 0 or less allow a cycle, that is an order,
and in each order every buffer goes as low as those before it allow.  So this is branch and bound over all orders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import permutations, product

MOST = 8
"""Most buffers whose orders are tried: 8! of them, before cuts."""


def least_extent(sizes: Sequence[int], separation: Callable[[int, int], int]) -> int | None:
    """Return the least end of the topmost buffer, in bytes; None with more than `MOST` buffers, or possible cycles.

    `separation(a, b)`, of positions in `sizes`, is the least distance from the start of a to that of b above it.
    """
    count = range(len(sizes))
    if len(sizes) > MOST:
        return None
    return _least_extent(tuple(sizes), tuple(separation(a, b) for a, b in permutations(count, 2)))


@lru_cache(maxsize=4096)
def _least_extent(sizes: tuple[int, ...], separations: tuple[int, ...]) -> int | None:
    """Return the same for all pairs in order; rows of tensors meet in the same way again and again."""
    count = len(sizes)
    distances = dict(zip(permutations(range(count), 2), separations, strict=True))
    bound = {pair: distance for pair, distance in distances.items() if distance + distances[pair[::-1]] > 0}
    if _has_cycle(count, bound):
        return None
    return _Orders(sizes, bound).least()


def _has_cycle(count: int, bound: dict[tuple[int, int], int]) -> bool:
    """Whether a cycle sums up to 0 or less (Floyd-Warshall)."""
    paths = dict(bound)
    for via, a, b in product(range(count), repeat=3):
        if (a, via) in paths and (via, b) in paths:
            length = paths[a, via] + paths[via, b]
            paths[a, b] = min(length, paths.get((a, b), length))
    return any(a == b and length <= 0 for (a, b), length in paths.items())


class _Orders:
    """Branch and bound over the orders of buffers, from the lowest to the topmost."""

    def __init__(self, sizes: Sequence[int], bound: dict[tuple[int, int], int]) -> None:
        self._sizes = sizes
        self._bound = bound
        self._best = sum(sizes)
        self._seen: set[tuple[int, tuple[tuple[int, int], ...]]] = set()

    def least(self) -> int:
        """Return the least end of all orders."""
        self._extend(dict.fromkeys(range(len(self._sizes)), 0), 0)
        return self._best

    def _extend(self, floors: dict[int, int], end: int) -> None:
        """Try each remaining buffer next; `floors` are their least offsets, `end` is where those below end."""
        if not floors:
            self._best = end
            return
        for index in sorted(floors, key=lambda index: (floors[index], -self._sizes[index])):
            top = max(end, floors[index] + self._sizes[index])
            rest = {
                other: max(floor, floors[index] + self._bound.get((index, other), -floors[index]))
                for other, floor in floors.items()
                if other != index
            }
            least_end = max([top, *(floor + self._sizes[other] for other, floor in rest.items())])
            state = top, tuple(rest.items())
            if state not in self._seen and least_end < self._best:
                self._seen.add(state)
                self._extend(rest, top)
