"""The room left in limited pools, section by section, and the items that are too large for it.

A pool of 9 units, when a is put into it:

    section             0   1   2   3
    room                9   9   9   9
    a, 5 units, takes   5   5               then there is room for
    and leaves          4   4   9   9       c, 6 units of the sections 2 and 3, but not for b, 6 units of 1 and 2

So items that take more of a section than is left must go to another pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from usmp_build.planner.algorithms.exact.choices import Choices


class Rooms:
    """The room of limited pools, which items take and give back."""

    def __init__(self, choices: Choices, rooms: Mapping[int, Sequence[int]]) -> None:
        """`rooms`: limited pool → units left in each section."""
        self._spans = choices.spans
        self._left = {pool: list(room) for pool, room in rooms.items()}
        self._wanted = _wanted(choices, rooms)

    def take(self, item: int, pool: int) -> bool:
        """Put an item into a pool; return whether there is room."""
        return self._change(item, pool, -1) >= 0

    def leave(self, item: int, pool: int) -> None:
        """Give back the room that an item took."""
        self._change(item, pool, 1)

    def _change(self, item: int, pool: int, sign: int) -> int:
        """Change the room; return the least room that is left in a section of the item, or 0 if that is less."""
        left = self._left.get(pool)
        least = 0
        if left is not None:
            for first, last, units in self._spans[item]:
                for section in range(first, last + 1):
                    left[section] += sign * units
                least = min(least, *left[first : last + 1])
        return least

    def too_large(self, item: int, pool: int) -> Iterator[int]:
        """Yield for each section of an item the items that need more of it than is left."""
        if pool in self._left:
            for first, last, _ in self._spans[item]:
                for section in range(first, last + 1):
                    yield from self._too_large(pool, section)

    def never(self) -> Iterator[tuple[int, int]]:
        """Yield `(item, pool)` wherever an item needs more of a section than is left."""
        for pool, left in self._left.items():
            for section in range(len(left)):
                yield from ((item, pool) for item in self._too_large(pool, section))

    def _too_large(self, pool: int, section: int) -> Iterator[int]:
        left = self._left[pool][section]
        for units, item in self._wanted[pool][section]:
            if units <= left:
                break
            yield item


def _wanted(choices: Choices, pools: Iterable[int]) -> dict[int, list[list[tuple[int, int]]]]:
    """Return for each limited pool and section the candidates as `(units, item)`, largest first."""
    candidates: dict[int, list[list[tuple[int, int]]]] = {pool: [[] for _ in range(choices.sections)] for pool in pools}
    for item, spans in enumerate(choices.spans):
        for pool in candidates.keys() & choices.pools[item]:
            for first, last, units in spans:
                for section in range(first, last + 1):
                    candidates[pool][section].append((units, item))
    for sections in candidates.values():
        for candidates_of_section in sections:
            candidates_of_section.sort(key=lambda pair: (-pair[0], pair[1]))
    return candidates
