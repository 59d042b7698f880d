"""The loop over orders: which order of operators makes the best plan, with the directions that suit it?

    the files' order, forward             solved first: nothing that is worse is ever chosen
    the files' order                      each operator from the end that the plan asks for (see `directions`)
    orders with fewer bytes alive         the same, for models that have such an order (see `passes.order`): for all
                                          of them, and for some
    all orders of a small graph           the same, for those that may still do better: the plan need not reach what is
                                          alive in an order, and of two that look alike one may come closer to it

`directions` is the loop inside, and `concat_aliasing` the one outside: it asks once for each choice of aliases.  All
orders are looked at for the best of these only.
Beside the best plan this one tells what is known of all others: `passes.order` how little any order and any directions
need, `directions` whether its search ended.  Where both went through all there is, the plan itself is the bound.

Neither order nor direction changes how many instructions run, so both are free whatever the goal of a model is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from usmp_build import effort
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.choices import Choices
from usmp_build.passes.order import Below, ModelOrders, least_workspace, model_orders, workspace_always
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.plan import Plan, quality
from usmp_build.search.directions import Budget
from usmp_build.search.incumbent import Incumbent
from usmp_build.search.replanner import Replanner


@dataclass(frozen=True)
class Chosen:
    """The best candidate, and what is known of the others."""

    analysis: Analysis
    plan: Plan | None
    """None: no candidate fits, and the analysis is of the files' orders, forward."""
    bound: int
    """Bytes of workspace: no orders and no directions of the operators need less, with the same buffers."""
    directions_are_proven: bool = False
    """No directions make a plan of the workspace that ranks before this one, in the orders that were looked at."""
    orders_are_proven: bool = False
    """Nor do they in any other order."""
    other_buffers: bool = False
    """Copies, or parts of tensors, could have been chosen otherwise: what is proven is proven with these buffers."""
    others: tuple[Analysis, ...] = ()
    """With other orders."""


class Orders:
    """The search for the best order: a few at once, and as many more as are worth it when it is asked to go on."""

    def __init__(self, replanner: Replanner, first: Analysis) -> None:
        """Look at a few orders; `first` is of the files' orders, forward.

        Raises CheckFailed when the algorithm returns a wrong plan.
        """
        self._replanner = replanner
        self._orders = model_orders(replanner.request, first)
        better = {m: each.best for m, each in enumerate(self._orders) if each and each.best}
        others = (replanner.retime(first, Choices(orders)) for orders in _combinations(better))
        self._few = [first, *others]
        self._incumbent = Incumbent(replanner, first, replanner.solve(first))
        for each in self._few:
            self._incumbent.look(each, Budget(replanner.glance, effort.DIRECTION_PLANS // len(self._few)))
        self._bound = least_workspace(first, self._orders)
        self.chosen = self._judged(are_all=False)

    def finish(self) -> Chosen:
        """Look at more orders, if any can be better; then plan the best choice with all the work there is for it."""
        if self._incumbent.room() > self._bound:
            self.chosen = self._judged(self._look_further(Budget(self._replanner.glance)))
        return _polished(self._replanner, self.chosen)

    def _judged(self, are_all: bool) -> Chosen:
        """Say what is known of the incumbent, if `are_all` orders that can be better than it were looked at."""
        best, bound = self._incumbent, self._bound
        if best.plan is None:
            return Chosen(self._few[0], None, bound)
        others = tuple(each for each in self._few if each is not best.chosen)
        directions_are_proven = best.directions_are_proven
        orders_are_proven = are_all and directions_are_proven
        if _has_one_pool(best.chosen):
            bound = best.room() if orders_are_proven else bound
            orders_are_proven = best.room() == bound
            directions_are_proven = directions_are_proven or orders_are_proven
        return Chosen(best.analysis, best.plan, bound, directions_are_proven, orders_are_proven, others=others)

    def _look_further(self, budget: Budget) -> bool:
        """Look at more orders of single models, the fewest bytes alive first.

        Return whether no others of all models can make a better plan.
        """
        start = self._incumbent.chosen
        current = _orders(start)
        looked_at = set(map(_orders, self._few))
        most = min(effort.ORDERS, effort.ORDER_BUFFERS // max(1, len(start.problem.buffers))) // len(self._orders)
        are_all, models = True, 0
        for model, orders in enumerate(self._orders):
            if orders is None:
                continue  # statements have one order
            worth = _worth_a_look(orders, self._incumbent, most)
            for each in worth.orders:
                if (*current[:model], each.order, *current[model + 1 :]) not in looked_at:
                    choices = Choices({**start.choices.orders, model: each.order})
                    self._incumbent.look(self._replanner.retime(self._few[0], choices), budget)
            are_all = are_all and worth.are_all
            models += any(each.order != current[model] for each in worth.orders)
        return are_all and models <= 1


def _orders(analysis: Analysis) -> tuple[tuple[int, ...], ...]:
    """Return the orders of all models."""
    return tuple(analysis.choices.order(index, model) for index, model in enumerate(analysis.models))


def _worth_a_look(orders: ModelOrders, incumbent: Incumbent, most: int) -> Below:
    """Return up to `most` orders of a model that may make a better plan.

    In one pool that is one with fewer bytes.  In several of them any order may make it, if all orders are so few.
    """
    fewer = incumbent.room() - workspace_always(incumbent.chosen)
    if _has_one_pool(incumbent.chosen):
        return orders.below(fewer, most)
    every = orders.below(None, most)
    return every if every.are_all else replace(orders.below(fewer, most), are_all=False)


def _has_one_pool(analysis: Analysis) -> bool:
    """Whether all workspace is in the same pool: then the better plan is the one that needs less of it."""
    members = analysis.storage.workspace
    return len({pool for index in members for pool in analysis.problem.buffers[index].pools}) == 1


def _combinations(better: Mapping[int, tuple[int, ...]]) -> Iterator[Mapping[int, tuple[int, ...]]]:
    """Yield the orders of all models; then, as one may spoil it, without each, and with each alone, while they are few.

    An order in which fewer bytes are alive may still be the worse one for the plan.
    """
    if better:
        yield better
    if 2 < len(better) <= effort.ORDER_MODELS:
        yield from ({m: order for m, order in better.items() if m != spoiled} for spoiled in better)
    if 1 < len(better) <= effort.ORDER_MODELS:
        yield from ({m: order} for m, order in better.items())


def _polished(replanner: Replanner, chosen: Chosen) -> Chosen:
    """Plan what was chosen once more, with all the work that the algorithm does, if less was done before."""
    problem, plan = chosen.analysis.problem, chosen.plan
    if plan is None or not isinstance(replanner.algorithm, Auto) or not chosen.analysis.choices.directions:
        return chosen
    if is_best(problem, plan):
        return chosen
    again = replanner.attempt(problem)
    return chosen if again is None or quality(problem, again) > quality(problem, plan) else replace(chosen, plan=again)
