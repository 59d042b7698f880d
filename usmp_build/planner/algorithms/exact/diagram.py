"""A lower bound of the cheapest assignment that leaves room in all sections, by decision diagrams of limited width.

Sections are visited in order.  At its first section an item chooses a pool; choices for which the section has no room
are dropped.  States that differ only in items which have ended are merged, and the cheapest of them is kept:

    section 0        section 1        section 2
                   .-- a ------------ a b --.
    (nothing) ----<                          >---- ...        pools: "a" is in the limited one, or is not
                   '-- (nothing) ---- b ----'

When there are too many states, the smallest item is forgotten: it pays its price, but no longer takes room.  Then the
result is no longer the cheapest assignment, but a lower bound of it.  The bound is good because large items are
remembered, only a few of which fit beside each other.  This is a relaxed decision diagram (Bergman, Cire, van Hoeve,
Hooker: Decision Diagrams for Optimization, 2016).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from usmp_build.planner.algorithms.exact.choices import Choices

_Path: TypeAlias = "tuple[int, int, _Path] | None"
"""Item, which of its pools it chose, and the path before it."""
_States: TypeAlias = dict[int, tuple[int, int, _Path]]
"""Which items are in which limited pools, as a set of bits → cost, room that is left, path."""


class Diagram:
    """Diagrams of the same choices and rooms, for any costs."""

    def __init__(self, choices: Choices, rooms: Mapping[int, int]) -> None:
        """`rooms`: limited pool → units."""
        self._choices = choices
        self._fields = _Fields(choices, rooms)
        self._births: list[list[int]] = [[] for _ in range(choices.sections)]
        self._changes: list[list[tuple[int, int]]] = [[] for _ in range(choices.sections + 1)]
        self._free: list[int] = []
        for item, spans in enumerate(choices.spans):
            if spans:
                self._births[spans[0][0]].append(item)
                self._plan_changes(item)
            else:
                self._free.append(item)
        self._largest = [max((units for _, _, units in spans), default=0) for spans in choices.spans]
        for births, changes in zip(self._births, self._changes, strict=False):
            births.sort(key=lambda item: (-self._largest[item], item))
            changes.sort(key=lambda change: (change[1], change[0]))  # items that leave come first

    def _plan_changes(self, item: int) -> None:
        """Record where an item takes more or less than in the section before, and where it ends."""
        taken, after = 0, self._choices.spans[item][0][0]
        for first, last, units in self._choices.spans[item]:
            if first > after:
                self._changes[after].append((item, -taken))
                taken = 0
            if taken or first > self._choices.spans[item][0][0]:
                self._changes[first].append((item, units - taken))
            taken, after = units, last + 1
        self._changes[after].append((item, -taken))

    def cheapest(self, costs: Sequence[Sequence[int]], width: int) -> tuple[int, tuple[int, ...]] | None:
        """Return a lower bound of the least total of `costs` (of each item and each of its pools), and the choices that
        lead to it: the pool that each item takes.  None when there is not enough room for any choices.

        At most `width` states are kept in each section.
        """
        states: _States = {0: (0, self._fields.full, None)}
        chosen = [min(range(len(item_costs)), key=item_costs.__getitem__) for item_costs in costs]
        fixed = sum(costs[item][chosen[item]] for item in self._free)
        remembered: list[tuple[int, int]] = []
        for section, births in enumerate(self._births):
            states = self._change(states, section, remembered)
            for item in births:
                states = self._choose(states, item, costs[item])
                insort(remembered, (self._largest[item], item))
                while len(states) > width:
                    states = self._merge(states, remembered.pop(0)[1], section, taken=True)
            if not states:
                return None
        cost, _, path = min(states.values(), key=lambda state: state[0])
        while path is not None:
            chosen[path[0]] = path[1]
            path = path[2]
        return fixed + cost, tuple(chosen)

    def _choose(self, states: _States, item: int, costs: Sequence[int]) -> _States:
        """Let an item take each of its pools; of those without a limit, only the cheapest can be of use."""
        after: _States = {}
        guards = self._fields.guards
        for which, bit, taken in self._fields.ways(item, costs):
            extra = costs[which]
            for key, (cost, room, path) in states.items():
                left = room - taken
                if left & guards == guards:
                    _keep(after, key | bit, (cost + extra, left, (item, which, path)))
        return after

    def _change(self, states: _States, section: int, remembered: list[tuple[int, int]]) -> _States:
        """Enter a section: some remembered items take more or less there, and some have ended."""
        for item, units in self._changes[section]:
            if (self._largest[item], item) in remembered:
                after: _States = {}
                guards = self._fields.guards
                for key, (cost, room, path) in states.items():
                    left = room - units * self._fields.one(key, item)
                    if left & guards == guards:
                        after[key] = (cost, left, path)
                states = after
                if self._choices.spans[item][-1][1] < section:
                    remembered.remove((self._largest[item], item))
                    states = self._merge(states, item, section, taken=False)
        return states

    def _merge(self, states: _States, item: int, section: int, taken: bool) -> _States:
        """Forget the choice of an item; its room in this section becomes free if it is still `taken`."""
        units = sum(u for first, last, u in self._choices.spans[item] if taken and first <= section <= last)
        after: _States = {}
        bits = self._fields.bits(item)
        for key, (cost, room, path) in states.items():
            _keep(after, key & ~bits, (cost, room + units * self._fields.one(key, item), path))
        return after


def _keep(states: _States, key: int, state: tuple[int, int, _Path]) -> None:
    """Keep the cheaper of two states; of equals, the first one."""
    present = states.get(key)
    if present is None or state[0] < present[0]:
        states[key] = state


class _Fields:
    """The room of all limited pools in one integer: a bit field for each, with a guard bit cleared on overflow."""

    def __init__(self, choices: Choices, rooms: Mapping[int, int]) -> None:
        self._choices = choices
        self._pools = sorted(rooms)
        most = max((units for spans in choices.spans for _, _, units in spans), default=0)
        bits = (max(rooms.values(), default=0) + most).bit_length() + 1
        self._shift = {pool: bits * place for place, pool in enumerate(self._pools)}
        self.guards = sum(1 << shift + bits - 1 for shift in self._shift.values())
        self.full = self.guards + sum(rooms[pool] << shift for pool, shift in self._shift.items())

    def _bit(self, item: int, pool: int) -> int:
        return 1 << item * len(self._pools) + self._pools.index(pool)

    def bits(self, item: int) -> int:
        """Return the bits of an item in all limited pools."""
        return ((1 << len(self._pools)) - 1) << item * len(self._pools)

    def one(self, key: int, item: int) -> int:
        """Return a unit of the field of the pool that the item is in; 0 where that pool is not limited."""
        pool_bit = key & self.bits(item)
        if not pool_bit:
            return 0
        return 1 << self._shift[self._pools[pool_bit.bit_length() - 1 - item * len(self._pools)]]

    def ways(self, item: int, costs: Sequence[int]) -> list[tuple[int, int, int]]:
        """Return `(which of its pools, its bit, the room it takes)`, with at most one choice that takes none."""
        pools = self._choices.pools[item]
        units = self._choices.spans[item][0][2]
        limited = [which for which, pool in enumerate(pools) if pool in self._shift]
        others = [which for which, pool in enumerate(pools) if pool not in self._shift]
        choices = [(which, self._bit(item, pools[which]), units << self._shift[pools[which]]) for which in limited]
        if others:
            choices.append((min(others, key=costs.__getitem__), 0, 0))
        return sorted(choices)
