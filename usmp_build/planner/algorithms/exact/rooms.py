"""The room that is left of limited pools, section by section, and who is too large for it.

A pool of 9 units, when a is put into it:

    section             0   1   2   3
    room                9   9   9   9
    a, 5 units, takes   5   5               then there is room for
    and leaves          4   4   9   9       c, 6 units of the sections 2 and 3, but not for b, 6 units of 1 and 2

So whoever wants more of a section than is left of it must go to another pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from usmp_build.planner.algorithms.exact.choices import Choices


class Rooms:
    """Room that items take and give back."""

    def __init__(self, choices: Choices, rooms: Mapping[int, Sequence[int]]) -> None:
        """`rooms`: limited pool → units that are left in each section."""
        self._spans = choices.spans
        self._left = {pool: list(room) for pool, room in rooms.items()}
        self._wanted = _wanted(choices, rooms)

    def take(self, item: int, pool: int) -> bool:
        """Put an item into a pool; say whether there is room."""
        return self._change(item, pool, -1) >= 0

    def leave(self, item: int, pool: int) -> None:
        """Give back what an item took."""
        self._change(item, pool, 1)

    def _change(self, item: int, pool: int, sign: int) -> int:
        """Return the least room that is left in a section of the item."""
        left = self._left.get(pool)
        least = 0
        if left is not None:
            for first, last, units in self._spans[item]:
                for section in range(first, last + 1):
                    left[section] += sign * units
                least = min(least, *left[first : last + 1])
        return least

    def too_large(self, item: int, pool: int) -> Iterator[int]:
        """Yield for each section of an item who else wants more of it than is left."""
        if pool in self._left:
            for first, last, _ in self._spans[item]:
                for section in range(first, last + 1):
                    yield from self._too_large(pool, section)

    def never(self) -> Iterator[tuple[int, int]]:
        """Yield `(item, pool)` for all that wants more than is left of some section."""
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
    """Return for each limited pool and section who might take how many units, largest first."""
    found: dict[int, list[list[tuple[int, int]]]] = {pool: [[] for _ in range(choices.sections)] for pool in pools}
    for item, spans in enumerate(choices.spans):
        for pool in found.keys() & choices.pools[item]:
            for first, last, units in spans:
                for section in range(first, last + 1):
                    found[pool][section].append((units, item))
    for sections in found.values():
        for wanted in sections:
            wanted.sort(key=lambda pair: (-pair[0], pair[1]))
    return found
