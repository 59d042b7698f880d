"""No-goods: buffers that one pool cannot hold together, and the last of them whose pool is still open.

    no-good {a, b, c}      a and b are in the pool      so c must not go there

A no-good is learned once, from a packing that failed, and then cuts off every assignment that contains it.  Its buffers
in each pool are counted as they come and go, so that only changes cost time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.exact.choices import Choices

NEVER = 1 << 62
"""No pool is as large as that."""
NOWHERE = -1
"""The pool of an item that is free."""


@frozen
class NoGood:
    """Buffers that a pool cannot hold together."""

    members: frozenset[int]
    """Their indices in the problem."""
    bytes: int
    """Pools of fewer bytes cannot hold them; NEVER: no pool can."""
    proven: bool
    """Whether that is proven; False: a search gave up."""

    def rules_out(self, limit: int | None) -> bool:
        """Whether a pool with this limit, in bytes, cannot hold them."""
        return self.bytes >= NEVER if limit is None else limit < self.bytes


class Watch:
    """Counts for each no-good and pool how many of its buffers are there."""

    def __init__(
        self,
        choices: Choices,
        limits: Mapping[int, int | None],
        held: Mapping[int, int],
        no_goods: Sequence[NoGood],
    ) -> None:
        """`held`: index of a buffer → pool, for buffers whose pool is given; `no_goods` may grow later on."""
        self._item = {index: item for item, index in enumerate(choices.members)}
        self._pools = choices.pools
        self._limits = limits
        self._held = held
        self._source = no_goods
        self._seen = 0
        self._where = [NOWHERE] * len(choices.members)
        self._entries: list[tuple[tuple[int, ...], int, bool]] = []
        self._counts: list[int] = []
        self._of: list[dict[int, list[int]]] = [{} for _ in choices.members]
        self._due: list[int] = []

    def update(self) -> None:
        """Add the no-goods that were learned since the last call."""
        while self._seen < len(self._source):
            no_good = self._source[self._seen]
            self._seen += 1
            items = [self._item[index] for index in no_good.members if index in self._item]
            held = {self._held.get(index) for index in no_good.members if index not in self._item}
            for pool, limit in self._limits.items():
                if held <= {pool} and no_good.rules_out(limit) and all(pool in self._pools[item] for item in items):
                    self._add(tuple(sorted(items)), pool, no_good.proven)

    def _add(self, items: tuple[int, ...], pool: int, proven: bool) -> None:
        number = len(self._entries)
        self._entries.append((items, pool, proven))
        self._counts.append(sum(self._where[item] == pool for item in items))
        for item in items:
            self._of[item].setdefault(pool, []).append(number)
        self._due.append(number)

    def enter(self, item: int, pool: int) -> None:
        """Record that an item is in a pool now."""
        self._where[item] = pool
        for number in self._of[item].get(pool, ()):
            self._counts[number] += 1
            if self._counts[number] >= len(self._entries[number][0]) - 1:
                self._due.append(number)

    def leave(self, item: int, pool: int) -> None:
        """Record that an item has left a pool."""
        self._where[item] = NOWHERE
        for number in self._of[item].get(pool, ()):
            self._counts[number] -= 1

    def due(self) -> Iterator[tuple[int | None, int, bool]]:
        """Yield `(the last item whose pool is open, the pool that is forbidden to it, whether that is proven)`.

        The item is None where all of them are in that pool already.  Only in that case, the same is yielded again
        by the next call.
        """
        violated = []
        while self._due:
            number = self._due.pop()
            items, pool, proven = self._entries[number]
            if self._counts[number] == len(items):
                violated.append(number)
                yield None, pool, proven
            elif self._counts[number] == len(items) - 1:
                last = next(item for item in items if self._where[item] != pool)
                if self._where[last] == NOWHERE:
                    yield last, pool, proven
        self._due = violated
