"""The least bytes that buffers take which all conflict, where pairs of them may share some.

Of two that conflict, one is behind the other.  Unless separations of 0 or less let that go round in a circle, it is an
order, and in each order every buffer goes as low as those before it allow: so orders are tried, the tree of them cut
where it is no better than what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

MOST = 8
"""Buffers: their orders are quickly tried."""


def least_extent(sizes: Sequence[int], separation: Callable[[int, int], int]) -> int | None:
    """Return where the last of some buffers ends at the least; None when they are too many, or may go in a circle.

    `separation(a, b)`, of positions in `sizes`, is how far b starts behind a where it is above it.
    """
    count = len(sizes)
    if count > MOST:
        return None
    apart = {(a, b): separation(a, b) for a in range(count) for b in range(count) if a != b}
    bound = {pair: distance for pair, distance in apart.items() if distance + apart[pair[::-1]] > 0}
    if _goes_round(count, bound):
        return None
    return _Orders(sizes, bound).least()


def _goes_round(count: int, bound: dict[tuple[int, int], int]) -> bool:
    """Whether the distances of some circle sum up to 0 or less (Floyd, Warshall: each step costs 1 of `count + 1`)."""
    far = 1 + sum(abs(distance) * (count + 1) for distance in bound.values()) + count * count
    ways = {(a, b): far for a in range(count) for b in range(count)}
    ways |= {pair: distance * (count + 1) - 1 for pair, distance in bound.items()}
    for via in range(count):
        for a in range(count):
            for b in range(count):
                ways[a, b] = min(ways[a, b], ways[a, via] + ways[via, b])
    return any(ways[a, a] < 0 for a in range(count))


class _Orders:
    """All orders, one buffer after the other."""

    def __init__(self, sizes: Sequence[int], bound: dict[tuple[int, int], int]) -> None:
        self._sizes = sizes
        self._bound = bound
        self._best = sum(sizes)

    def least(self) -> int:
        """Return the least end of all orders."""
        self._extend(dict.fromkeys(range(len(self._sizes)), 0), 0)
        return self._best

    def _extend(self, floors: dict[int, int], end: int) -> None:
        """Put each of those that are left on top; none of them starts below its floor."""
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
            if max([top, *(floor + self._sizes[other] for other, floor in rest.items())]) < self._best:
                self._extend(rest, top)
