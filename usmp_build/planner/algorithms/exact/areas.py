"""Plans one area, connected buffers with several pools: the cheapest assignment, then lower peaks.

Both are searches by `assign`, with limits and costs that leave only better plans:

    the cheapest           any plan within the limits that costs less than the best so far
    lower peaks            any plan as cheap as the cheapest that keeps these lower limits, too (`heights`)

So each search can use what earlier ones proved: sets of buffers that do not fit into a number of bytes, and prices.
Where the whole tree is too large to search, `neighborhoods` find better plans, and `prices` a bound:

    cost  |  start            a short search of the tree: enough for small problems
          |    '-.
          |       '--.__      dive, then walks through neighborhoods
          |             '---
          |           __.---
          |      .--''        prices
         |  bound            finally the tree again, with the rest of the budget
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from usmp_build.planner.algorithms.exact.assign import Outcome, Tree
from usmp_build.planner.algorithms.exact.choices import choices
from usmp_build.planner.algorithms.exact.neighborhoods import Neighborhoods
from usmp_build.planner.algorithms.exact.one_pool import pack
from usmp_build.planner.algorithms.exact.packings import Packings
from usmp_build.planner.algorithms.exact.prices import Prices, improve, no_prices
from usmp_build.planner.algorithms.exact.state import ground
from usmp_build.planner.algorithms.exact.walks import Status
from usmp_build.planner.memory.bounds import pool_bound, pressure
from usmp_build.planner.memory.problem import Problem

Limits = Mapping[int, int | None]
"""Pool → bytes; None: as many as needed."""

_FIRST = 1000
"""Most nodes of the search without prices: enough for small problems."""
_SMALL = 32
"""Items whose tree is searched sooner than diagrams are made."""
_PLAIN = (64, 1)
"""Width and passes of the diagram without prices: it has the cheapest plan where few buffers are open at once."""
_ROUGH = (1, 100)
"""Width and passes of the diagrams that find prices for searches."""
_FINE = ((32, 60), (256, 20))
"""Width and passes of the diagrams that prove a bound, before and after the search for a better plan."""
_FILLS = (1000, 990, 980, 970, 960, 950)
"""Thousandths of the room that a first assignment may take: the less, the easier it is to pack."""


@dataclass(slots=True)
class Budget:
    """A budget of nodes of searches."""

    left: int

    def share(self, number: int) -> Budget:
        """Take one of `number` equal parts out of the budget; the caller gives back what is left of it."""
        part = Budget(max(0, self.left // number))
        self.left -= part.left
        return part


class Area:
    """Connected buffers of a problem that have several pools, and the best plan for them so far."""

    def __init__(self, problem: Problem, members: Sequence[int]) -> None:
        self._problem = problem
        self._choices = choices(problem, members)
        self._packings = Packings(problem, members)
        self._prices: Mapping[int, Sequence[int]] = {}
        self.where: tuple[int, ...] = ()
        """The pool of each item in the best plan so far; empty: there is none."""
        self.cost: int | None = None
        """The cost of that plan."""
        self.bound = self._choices.least
        """A lower bound of the cost, proven."""
        self.impossible = False
        """Whether it is proven that there is no plan."""
        self._seen: list[tuple[int, ...]] = []
        """The pools of items in further plans, found for lower peaks."""

    @property
    def is_cheapest(self) -> bool:
        """Whether it is proven that no plan costs less."""
        return self.cost is not None and self.cost <= self.bound

    def begin(self, places: Mapping[int, tuple[int, int]]) -> None:
        """Begin with a plan: index of a buffer → (pool, offset)."""
        self.settle([places[index][0] for index in self._choices.members])
        for pool in sorted(set(self.where)):
            self._packings.remember({index: places[index][1] for index in self._inside(pool, self.where)})

    def settle(self, where: Sequence[int]) -> None:
        """Make an assignment the best plan."""
        self.where = tuple(where)
        self.cost = self._choices.cost(self.where)

    def _inside(self, pool: int, where: Sequence[int]) -> list[int]:
        return [index for index, chosen in zip(self._choices.members, where, strict=True) if chosen == pool]

    # ---------------------------------------------------------------------------------------------- costs

    def cheapen(self, limits: Limits, budget: Budget) -> None:
        """Search for the cheapest plan."""
        self._search(limits, budget, min(_FIRST, budget.left), 8)
        prices = no_prices(self._choices, limits)
        self._appraise(prices, _PLAIN, limits, budget)
        self._appraise(prices, _ROUGH, limits, budget)
        self._prices = prices.prices
        self._dive(limits, budget)
        for effort in _FINE:
            self._appraise(prices, effort, limits, budget)
            self._walk(limits, budget)
        for share in (8, 2):
            self._packings.forget_unproven()
            self._search(limits, budget, budget.left, share)

    def _is_done(self, budget: Budget) -> bool:
        return self.is_cheapest or self.impossible or budget.left <= 0

    def _search(self, limits: Limits, budget: Budget, nodes: int, share: int) -> None:
        """Search the whole tree for a cheaper plan; one packing may take 1 / `share` of the nodes."""
        if self._is_done(budget):
            return
        tree = Tree(self._choices, ground(self._choices, limits, self._prices), self._packings)
        out = self._run(tree, budget, nodes, nodes // share)
        if out.complete:
            left = [cost for cost in (out.doubt, self.cost) if cost is not None]
            self.impossible = not left
            self.bound = max(self.bound, min(left, default=0))

    def _run(self, tree: Tree, budget: Budget, nodes: int, patience: int, first: bool = False) -> Outcome:
        out = tree.run(None if self.cost is None else self.cost - 1, nodes, patience, first)
        budget.left -= out.nodes
        if out.where is not None:
            self.settle(out.where)
        return out

    def _appraise(self, prices: Prices, effort: tuple[int, int], limits: Limits, budget: Budget) -> None:
        """Find prices that prove a bound; the assignment that they lead to is the best plan if pools hold it."""
        if self._is_done(budget):
            return
        width, passes = effort
        budget.left -= improve(prices, self.cost, width, passes, budget.left // 3)
        self.impossible |= prices.impossible
        self.bound = max(self.bound, self._choices.possible(prices.bound))
        if prices.chosen and (self.cost is None or self._choices.cost(prices.chosen) < self.cost):
            self._try(prices.chosen, limits, budget)

    def _try(self, where: Sequence[int], limits: Limits, budget: Budget) -> None:
        """Make a cheaper assignment the best plan if the limited pools are found to hold it."""
        begin = self._packings.nodes
        pools = {pool: self._inside(pool, where) for pool, limit in limits.items() if limit is not None}
        patience = max(0, budget.left // 32)
        fits = (
            self._packings.fit(inside, limits[pool] or 0, patience) is Status.FITS for pool, inside in pools.items()
        )
        if all(fits):
            self.settle(where)
        budget.left -= self._packings.nodes - begin

    def _dive(self, limits: Limits, budget: Budget) -> None:
        """Follow prices to an assignment that can be packed; first with all the room there is, then with less."""
        nodes = budget.left // 32
        for fill in _FILLS:
            if self._is_done(budget):
                return
            tree = Tree(self._choices, ground(self._choices, limits, self._prices, fill), self._packings)
            if self._run(tree, budget, nodes, nodes // 2, first=True).where is not None:
                return

    def _walk(self, limits: Limits, budget: Budget) -> None:
        """Search the neighborhoods of the best assignment for better ones."""
        if self._is_done(budget) or self.cost is None:
            return
        walk = Neighborhoods(self._choices, limits, self._prices, self._packings, list(self.where), self.bound)
        walk.run(budget.left * 2 // 3)
        budget.left -= walk.nodes
        self.settle(walk.where)

    # ---------------------------------------------------------------------------------------------- peaks

    def offsets(self, pool: int, where: Sequence[int] | None = None) -> dict[int, int]:
        """Return the offsets of a pool's buffers, in bytes, in the best plan or the one that `where` belongs to.

        Buffers of a pool without a limit are placed by first fit at first.
        """
        inside = self._inside(pool, self.where if where is None else where)
        return self._packings.offsets(inside) or self._packings.loose(inside)

    def peaks(self, where: Sequence[int], pools: Sequence[int]) -> tuple[int, ...]:
        """Return the peak of each pool, in bytes, in a plan that was found."""
        return tuple(self._end(self.offsets(pool, where)) for pool in pools)

    def _end(self, offsets: Mapping[int, int]) -> int:
        return max((at + self._problem.buffers[index].size for index, at in offsets.items()), default=0)

    def least_peak(self, pool: int) -> int:
        """Return a lower bound, in bytes, of what buffers need that have no other pool."""
        bound = (i for i in self._choices.members if self._problem.buffers[i].pools == (pool,))
        return pool_bound(self._problem, bound).bytes

    def least_sum(self, pools: Sequence[int]) -> int:
        """Return a lower bound, in bytes, of what all buffers need in these pools together."""
        return pressure(self._problem, self._choices.members, len(pools)).bytes

    def within(self, limits: Limits, budget: Budget, share: int) -> tuple[tuple[int, ...] | None, bool]:
        """Search for a plan within limits that costs no more; a packing may take 1 / `share` of the budget.

        Return its pools, None where none was found; and whether it is proven that there is none.
        """
        pools = sorted(limits)
        is_small = len(self._choices.members) <= _SMALL
        known = self._seen if is_small else [self.where, *self._seen]
        for where in known:
            ends = zip(self.peaks(where, pools), (limits[pool] for pool in pools), strict=True)
            if all(limit is None or end <= limit for end, limit in ends):
                return where, False
        if not is_small and self._costs_more(limits, budget):
            return None, True
        tree = Tree(self._choices, ground(self._choices, limits, {}), self._packings)
        out = tree.run(self.cost, budget.left // 4 + 1, budget.left // share + 1, first=True)
        budget.left -= out.nodes
        if out.where is not None:
            self._seen.append(out.where)
        return out.where, out.where is None and out.complete and out.doubt is None

    def _costs_more(self, limits: Limits, budget: Budget) -> bool:
        """Whether a diagram proves that no plan within limits costs as little as the best one."""
        prices = no_prices(self._choices, limits)
        budget.left -= improve(prices, self.cost, *_PLAIN, budget.left // 8)
        return prices.impossible or (self.cost is not None and self._choices.possible(prices.bound) > self.cost)

    def forget_unproven(self) -> None:
        """Forget no-goods without proof: there is budget to search them again."""
        self._packings.forget_unproven()

    def repack(self, pool: int, limit: int | None, budget: Budget) -> None:
        """Lower the peak of a pool by moving its buffers."""
        packed = pack(self._problem, self._inside(pool, self.where), limit, budget.left // 8, self.offsets(pool))
        budget.left -= packed.nodes
        if packed.offsets is not None:
            self._packings.remember(packed.offsets)
