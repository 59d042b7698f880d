"""Large neighborhood search: improves an assignment by freeing a few items that are close in time, at a time.

    section     0   1   2   3   4   5   6   7
    a           |=======|                             held
    b                   |===========|                 free
    c                       |=======|                 free       rooms are those that the held ones leave
    d                                   |=======|     held

Each search is small, and its result fits by construction, so the plan improves step by step (Shaw, 1998).  A pool
that is full in every section is hard to pack.  So at first the room is reduced a little: assignments found then are
packed at once, and have most of the gain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from usmp_build.planner.algorithms.exact.assign import Outcome, Tree
from usmp_build.planner.algorithms.exact.choices import Choices
from usmp_build.planner.algorithms.exact.packings import Packings
from usmp_build.planner.algorithms.exact.state import Ground

_NODES = 3000
"""Most nodes of one search, packings included."""
_PATIENCE = 1000
"""Most nodes of one packing."""
_TURNS = ((14, 970), (14, 985), (14, 1000), (20, 1000), (28, 1000))
"""Stages of the walk: how many items are free at a time, and thousandths of the room that may be used."""


@dataclass(slots=True)
class Neighborhoods:
    """A walk from assignment to assignment, each cheaper than the last."""

    choices: Choices
    limits: Mapping[int, int | None]
    prices: Mapping[int, Sequence[int]]
    packings: Packings
    where: list[int]
    """The pool of each item: an assignment that is known to fit."""
    goal: int
    """A lower bound of the cost."""
    nodes: int = 0
    _noise: int = 1

    def run(self, nodes: int) -> None:
        """Walk until nothing improves, or `nodes` nodes are spent."""
        movable = [item for item, pools in enumerate(self.choices.pools) if len(pools) > 1]
        for turn, (size, fill) in enumerate(_TURNS):
            share = (nodes - self.nodes) // min(3, len(_TURNS) - turn)
            if movable:
                self._turn(movable, size, fill, self.nodes + share)

    def _turn(self, movable: Sequence[int], size: int, fill: int, nodes: int) -> None:
        """Walk until no section has had an improvement for a while."""
        idle = 0
        while idle <= max(self.choices.sections, len(movable)) and self.nodes < nodes:
            most = self.choices.cost(self.where) - max(1, self.choices.grain)
            if most < self.goal:
                return
            free = self._nearest(movable, size, self._draw(max(1, self.choices.sections)))
            out = self._search(free, fill, most, min(_NODES, nodes - self.nodes))
            self.nodes += 1 + out.nodes + len(self.where)  # to prepare a search, all items are visited
            idle += 1
            if out.where is not None:
                idle = 0
                for item, pool in zip(free, out.where, strict=True):
                    self.where[item] = pool

    def _draw(self, count: int) -> int:
        """Return a number below `count` (linear congruential generator: Numerical Recipes)."""
        self._noise = (self._noise * 1664525 + 1013904223) % (1 << 32)
        return (self._noise >> 8) % count

    def _nearest(self, movable: Sequence[int], size: int, section: int) -> list[int]:
        """Choose the items that are nearest to a section, with random shifts of up to two sections."""
        keys = {}
        for item in movable:
            spans = self.choices.spans[item]
            distance = max(spans[0][0] - section, section - spans[-1][1], 0) if spans else 0
            keys[item] = (4 * distance + self._draw(8), self._draw(1 << 20))
        return sorted(sorted(movable, key=keys.__getitem__)[:size])

    def _search(self, free: list[int], fill: int, most: int, nodes: int) -> Outcome:
        """Search for pools for the free items, while all others stay where they are."""
        spans = [span for item in free for span in self.choices.spans[item]]
        first, stop = min((s[0] for s in spans), default=0), max((s[1] + 1 for s in spans), default=0)
        chosen = self.choices.subset(free, first, stop)
        rooms = self._rooms(free, first, stop, fill)
        prices = {pool: values[first:stop] for pool, values in self.prices.items()}
        held = dict(zip(self.choices.members, self.where, strict=True))
        free_cost = chosen.cost([held.pop(index) for index in chosen.members])
        cost = self.choices.cost(self.where) - free_cost
        return Tree(chosen, Ground(self.limits, rooms, prices, held, cost), self.packings).run(most, nodes, _PATIENCE)

    def _rooms(self, free: Sequence[int], first: int, stop: int, fill: int) -> dict[int, list[int]]:
        """Return the room that held items leave in sections, never less than free items use now."""
        sizes = {pool: self.choices.room(limit) for pool, limit in self.limits.items() if limit is not None}
        used_by_held = {pool: [0] * (stop - first) for pool in sizes}
        used_by_free = {pool: [0] * (stop - first) for pool in sizes}
        for item, pool in enumerate(self.where):
            if pool in sizes:
                load = used_by_free[pool] if item in free else used_by_held[pool]
                for start, last, units in self.choices.spans[item]:
                    for section in range(max(start, first), min(last + 1, stop)):
                        load[section - first] += units
        return {
            pool: [max(size * fill // 1000 - u, o) for u, o in zip(used_by_held[pool], used_by_free[pool], strict=True)]
            for pool, size in sizes.items()
        }
