"""A state of the search over assignments: which of its pools each item may still have, and what follows from that.

    room       a pool is forbidden to items that some section has no room left for
    no-goods   of buffers that one pool cannot hold together, the last one must go elsewhere
    costs      a pool is forbidden that would make every plan cost more than `most`

A state costs at least the sum of the cheapest pools that are allowed.  With prices (see `prices`) the same sum, of
costs with payments and less the price of all room, is another bound, which mostly is higher.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from usmp_build.planner.algorithms.exact.choices import Choices
from usmp_build.planner.algorithms.exact.no_goods import NOWHERE, Watch
from usmp_build.planner.algorithms.exact.packings import Packings
from usmp_build.planner.algorithms.exact.prices import FINE, reduced
from usmp_build.planner.algorithms.exact.rooms import Rooms


@dataclass(frozen=True, slots=True)
class Ground:
    """What a search stands on: limits, prices, and buffers whose pool is not in question."""

    limits: Mapping[int, int | None]
    """Bytes of each pool; None: as many as needed."""
    rooms: Mapping[int, Sequence[int]]
    """Limited pool → units that are left in each section."""
    prices: Mapping[int, Sequence[int]]
    """Limited pool → price of a unit, in parts, section by section."""
    held: Mapping[int, int]
    """Index of a buffer → its pool."""
    cost: int = 0
    """Of those."""


def ground(
    choices: Choices, limits: Mapping[int, int | None], prices: Mapping[int, Sequence[int]], fill: int = 1000
) -> Ground:
    """Stand on nothing but limits and prices, and `fill` thousandths of the room."""
    units = {pool: choices.room(limit) * fill // 1000 for pool, limit in limits.items() if limit is not None}
    return Ground(limits, {pool: [room] * choices.sections for pool, room in units.items()}, prices, {})


class State:
    """A state; changes are undone in reverse."""

    def __init__(self, choices: Choices, ground: Ground, packings: Packings) -> None:
        self._choices = choices
        self._reduced = reduced(choices, ground.prices)
        self._income = sum(
            price * units
            for pool, prices in ground.prices.items()
            for price, units in zip(prices, ground.rooms[pool], strict=True)
        )
        self._rooms = Rooms(choices, ground.rooms)
        self._watch = Watch(choices, ground.limits, ground.held, packings.no_goods)
        self._weight = [sum((last - first + 1) * u for first, last, u in spans) for spans in choices.spans]
        self._trail: list[tuple[int, list[int] | None]] = []
        self._paid = ground.cost * FINE + sum(min(own) for own in self._reduced)
        self.plain = ground.cost + sum(min(own) for own in choices.costs)
        """The cost, if every item gets the cheapest pool it is allowed."""
        self.allowed = [sorted(range(len(own)), key=own.__getitem__) for own in self._reduced]
        """Which of its pools each item may have, cheapest with payments first."""
        self.where = [NOWHERE] * len(choices.members)
        """The pool of each item that has only one left."""
        self.most: int | None = None
        """Costs beyond that are of no use."""
        self.doubt: int | None = None
        """No plan costs less of those that were given up without proof."""
        self._queue = [item for item, allowed in enumerate(self.allowed) if len(allowed) == 1]

    @property
    def mark(self) -> int:
        """Where `undo` can come back to."""
        return len(self._trail)

    def root(self) -> bool:
        """Forbid what has no room even alone; as all changes do, say whether the state may end well."""
        return all(self._forbid(item, pool) for item, pool in self._rooms.never()) and self._settle()

    def take(self, item: int) -> bool:
        """Give an item the first pool it is allowed."""
        for which in self.allowed[item][1:]:
            self._strike(item, which)
        return self._settle()

    def refuse(self, item: int, which: int) -> bool:
        """Forbid an item one of its pools."""
        return self._strike(item, which) and self._settle()

    def undo(self, mark: int) -> None:
        """Take back all changes since a mark."""
        while len(self._trail) > mark:
            item, allowed = self._trail.pop()
            if allowed is None:
                pool, self.where[item] = self.where[item], NOWHERE
                self._watch.leave(item, pool)
                self._rooms.leave(item, pool)
            else:
                self._count(item, self.allowed[item], allowed)
                self.allowed[item] = allowed

    def open(self) -> int:
        """Return the item whose second best pool is dearest, the largest among equals; NOWHERE if none is open."""
        best, chosen = (-1, -1), NOWHERE
        for item, where in enumerate(self.where):
            if where == NOWHERE:
                first, second = self.allowed[item][:2]
                own = self._reduced[item]
                key = (own[second] - own[first], self._weight[item])
                if key > best:
                    best, chosen = key, item
        return chosen

    def drop(self, cost: int) -> None:
        """Take note that something is given up although it may be possible."""
        self.doubt = cost if self.doubt is None else min(self.doubt, cost)

    # ---------------------------------------------------------------------------------------------- inference

    def _settle(self) -> bool:
        """Follow up everything that a change leads to."""
        self._watch.hear()
        while True:
            while self._queue:
                item = self._queue.pop()
                if self.where[item] == NOWHERE and not self._assign(item):
                    return self._fail()
            if not self._no_goods_hold() or not self._cheap_enough():
                return self._fail()
            if not self._queue:
                return True

    def _fail(self) -> bool:
        self._queue.clear()
        return False

    def _assign(self, item: int) -> bool:
        """Put an item into its only pool."""
        pool = self._choices.pools[item][self.allowed[item][0]]
        self.where[item] = pool
        self._trail.append((item, None))
        self._watch.enter(item, pool)
        if not self._rooms.take(item, pool):
            return False
        too_large = (other for other in self._rooms.too_large(item, pool) if self.where[other] == NOWHERE)
        return all(self._forbid(other, pool) for other in too_large)

    def _no_goods_hold(self) -> bool:
        """Keep the last buffer of each no-good out of its pool."""
        for item, pool, proven in list(self._watch.due()):
            if not proven:
                self.drop(self._least())
            if item is None or not self._forbid(item, pool):
                return False
        return True

    def _least(self) -> int:
        """Return a lower bound of the cost of whatever is below this state."""
        return max(self.plain, -((self._income - self._paid) // FINE))

    def _cheap_enough(self) -> bool:
        """Forbid pools that would cost too much."""
        if self.most is None:
            return True
        if self._least() > self.most:
            return False
        spare_plain = self.most - self.plain
        spare = self.most * FINE + self._income - self._paid
        for item, where in enumerate(self.where):
            if where == NOWHERE:
                allowed, own, plain = self.allowed[item], self._reduced[item], self._choices.costs[item]
                least = plain[min(allowed)]
                for which in allowed:
                    dear = own[which] - own[allowed[0]] > spare or plain[which] - least > spare_plain
                    if dear and not self._strike(item, which):
                        return False
        return self._least() <= self.most

    def _forbid(self, item: int, pool: int) -> bool:
        return self._strike(item, self._choices.pools[item].index(pool))

    def _strike(self, item: int, which: int) -> bool:
        """Forbid an item one of its pools; say whether it has another."""
        before = self.allowed[item]
        if which not in before:
            return bool(before)
        after = [other for other in before if other != which]
        self._trail.append((item, before))
        self.allowed[item] = after
        self._count(item, before, after)
        if len(after) == 1:
            self._queue.append(item)
        return bool(after)

    def _count(self, item: int, before: Sequence[int], after: Sequence[int]) -> None:
        """Keep the sums of cheapest pools; an item without a pool is in a state that is given up at once."""
        if before and after:
            own, plain = self._reduced[item], self._choices.costs[item]
            self._paid += own[after[0]] - own[before[0]]
            self.plain += plain[min(after)] - plain[min(before)]
