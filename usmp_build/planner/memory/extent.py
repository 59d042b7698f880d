"""The least bytes that a set of conflicting buffers takes when pairs of them may overlap.

Of two buffers in conflict, one is above the other.  Unless separations of 0 or less allow a cycle, that is an order,
and in each order every buffer goes as low as those before it allow.  So this is branch and bound over all orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import permutations, product

MOST = 8
"""Most buffers whose orders are tried: 8! of them, before cuts."""


def least_extent(sizes: Sequence[int], separation: Callable[[int, int], int], enough: int = 0) -> int | None:
    """Return the least end of the topmost buffer, in bytes; None with more than `MOST` buffers, or possible cycles.

    `separation(a, b)`, of positions in `sizes`, is the least distance from the start of a to that of b above it.  The
    search ends with an order of at most `enough` bytes, though another one may have less.
    """
    count = range(len(sizes))
    if len(sizes) > MOST:
        return None
    orders = _orders(tuple(sizes), tuple(separation(a, b) for a, b in permutations(count, 2)))
    return None if orders is None else orders.least(enough)


@lru_cache(maxsize=4096)
def _orders(sizes: tuple[int, ...], separations: tuple[int, ...]) -> _Orders | None:
    """Return the orders for all pairs in order; rows of tensors meet in the same way again and again."""
    count = len(sizes)
    distances = dict(zip(permutations(range(count), 2), separations, strict=True))
    bound = {pair: distance for pair, distance in distances.items() if distance + distances[pair[::-1]] > 0}
    return None if _has_cycle(count, bound) else _Orders(sizes, bound)


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
        self._is_least = False
        self._enough = 0
        self._seen: set[tuple[int, tuple[tuple[int, int], ...]]] = set()

    def least(self, enough: int) -> int:
        """Return the least end of all orders, or one of at most `enough` bytes."""
        if self._best > enough and not self._is_least:
            self._enough = enough
            self._extend(dict.fromkeys(range(len(self._sizes)), 0), 0)
            self._is_least = self._best > enough
            self._seen.clear()
        return self._best

    def _extend(self, floors: dict[int, int], end: int) -> None:
        """Try each remaining buffer next; `floors` are their least offsets, `end` is where those below end."""
        if not floors:
            self._best = end
        for least_end, _, _, top, rest in sorted(self._next(floors, end)):
            state = top, tuple(rest.items())
            if self._best > max(self._enough, least_end) and state not in self._seen:
                self._seen.add(state)
                self._extend(rest, top)

    def _next(self, floors: dict[int, int], end: int) -> Iterator[tuple[int, int, int, int, dict[int, int]]]:
        """Yield, for each remaining buffer next, the least end of all, its floor, its number, its top, and the rest."""
        for index, floor in floors.items():
            rest = {
                other: max(above, floor + self._bound.get((index, other), -floor))
                for other, above in floors.items()
                if other != index
            }
            top = max(end, floor + self._sizes[index])
            least_end = max([top, *[above + self._sizes[other] for other, above in rest.items()]])
            if least_end < self._best:
                yield least_end, floor, index, top, rest
