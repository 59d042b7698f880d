"""A state of the search over assignments: the pools that each item may still have, with constraint propagation.

    room       a pool is forbidden to items for which one of its sections has no room left
    no-goods   of buffers that one pool cannot hold together, the last one must go elsewhere
    costs      a pool is forbidden that would make every plan cost more than `most`

A state costs at least the sum of the cheapest pools that are allowed.  With prices (see `prices`), the same sum over
costs with payments, less the price of all room, is another bound, and mostly a higher one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.exact.choices import Choices
from usmp_build.planner.algorithms.exact.no_goods import NOWHERE, Watch
from usmp_build.planner.algorithms.exact.packings import Packings
from usmp_build.planner.algorithms.exact.prices import FINE, reduced
from usmp_build.planner.algorithms.exact.rooms import Rooms


@frozen
class Ground:
    """The fixed data of a search: limits, prices, and buffers whose pool is given."""

    limits: Mapping[int, int | None]
    """Bytes of each pool; None: as many as needed."""
    rooms: Mapping[int, Sequence[int]]
    """Limited pool → units left in each section."""
    prices: Mapping[int, Sequence[int]]
    """Limited pool → price of a unit in each section, in parts of 1 / `FINE`."""
    held: Mapping[int, int]
    """Index of a buffer → its pool."""
    cost: int = 0
    """The cost of those buffers."""


def ground(
    choices: Choices, limits: Mapping[int, int | None], prices: Mapping[int, Sequence[int]], fill: int = 1000
) -> Ground:
    """Return the data of a search in which no buffer is given, with `fill` thousandths of the room."""
    units = {pool: choices.room(limit) * fill // 1000 for pool, limit in limits.items() if limit is not None}
    return Ground(limits, {pool: [room] * choices.sections for pool, room in units.items()}, prices, {})


class State:
    """A state, whose changes can be undone in reverse order."""

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
        self._paid = ground.cost * FINE + sum(min(costs) for costs in self._reduced)
        self.plain = ground.cost + sum(min(costs) for costs in choices.costs)
        """The cost if every item gets the cheapest pool it is allowed."""
        self.allowed = [sorted(range(len(costs)), key=costs.__getitem__) for costs in self._reduced]
        """Which of its pools each item may have, cheapest with payments first."""
        self.where = [NOWHERE] * len(choices.members)
        """The pool of each item that has only one left."""
        self.most: int | None = None
        """The highest cost that is of use; None: any."""
        self.doubt: int | None = None
        """A lower bound of the cost of assignments given up without proof; None: there are none."""
        self._queue = [item for item, allowed in enumerate(self.allowed) if len(allowed) == 1]

    @property
    def mark(self) -> int:
        """The position in the trail that `undo` can return to."""
        return len(self._trail)

    def root(self) -> bool:
        """Forbid pools too full for an item even if alone; return, as all changes do, whether a plan is possible."""
        return all(self._forbid(item, pool) for item, pool in self._rooms.never()) and self._settle()

    def take(self, item: int) -> bool:
        """Give an item the first of its allowed pools."""
        for which in self.allowed[item][1:]:
            self._strike(item, which)
        return self._settle()

    def refuse(self, item: int, which: int) -> bool:
        """Forbid an item one of its pools."""
        return self._strike(item, which) and self._settle()

    def undo(self, mark: int) -> None:
        """Undo all changes since a mark."""
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
        """Return the item whose second best pool costs most extra, or the largest of these; NOWHERE if none is open."""
        best, chosen = (-1, -1), NOWHERE
        for item, where in enumerate(self.where):
            if where == NOWHERE:
                first, second = self.allowed[item][:2]
                costs = self._reduced[item]
                key = (costs[second] - costs[first], self._weight[item])
                if key > best:
                    best, chosen = key, item
        return chosen

    def drop(self, cost: int) -> None:
        """Record that assignments of at least this cost are given up without proof."""
        self.doubt = cost if self.doubt is None else min(self.doubt, cost)

    # ---------------------------------------------------------------------------------------------- inference

    def _settle(self) -> bool:
        """Propagate a change until nothing follows from it any more."""
        self._watch.update()
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
                allowed, reduced_costs, plain = self.allowed[item], self._reduced[item], self._choices.costs[item]
                least = plain[min(allowed)]
                for which in allowed:
                    too_dear = (
                        reduced_costs[which] - reduced_costs[allowed[0]] > spare or plain[which] - least > spare_plain
                    )
                    if too_dear and not self._strike(item, which):
                        return False
        return self._least() <= self.most

    def _forbid(self, item: int, pool: int) -> bool:
        return self._strike(item, self._choices.pools[item].index(pool))

    def _strike(self, item: int, which: int) -> bool:
        """Forbid an item one of its pools; return whether it has another."""
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
        """Update the sums of cheapest costs; a state with an item that has no pool is given up at once."""
        if before and after:
            reduced_costs, plain = self._reduced[item], self._choices.costs[item]
            self._paid += reduced_costs[after[0]] - reduced_costs[before[0]]
            self.plain += plain[min(after)] - plain[min(before)]
