"""Chooses the order of operators that makes the best plan, together with their directions.

    the files' order, forward             solved first: nothing worse is ever chosen
    the files' order                      with the best direction of each operator (see `directions`)
    orders with a lower peak              the same, for models that have such an order (see `passes.order`): for all
                                          of them, for all but one, and for one alone
    all orders of a small graph           the same, for those that may still be better: a plan may need more than the
                                          peak of its order, and of two orders with equal peaks one may come closer

`directions` is the inner loop, and `concat_aliasing` the outer one, which runs this search for each choice of aliases,
but tries all orders for the best choice only.

The result also says what is proven of all alternatives: `passes.order` gives a lower bound for all orders and
directions, `directions` whether its search completed.  If both were exhaustive, the plan itself is the bound.

Neither order nor direction changes the number of instructions that run, so both are chosen freely for any goal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.choices import Choices
from usmp_build.passes.order import Below, ModelOrders, least_workspace, model_orders, workspace_always
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.plan import Plan, quality
from usmp_build.planner.memory.problem import Problem
from usmp_build.search.directions import PlanBudget
from usmp_build.search.incumbent import Incumbent
from usmp_build.search.replanner import Replanner


@frozen
class BestCandidate:
    """The best candidate, and what is proven of the others."""

    analysis: Analysis
    plan: Plan | None
    """None: no candidate fits; the analysis is then of the files' orders, forward."""
    bound: int
    """Lower bound on bytes of workspace for all orders and directions, with the same buffers."""
    directions_are_proven: bool = False
    """Whether no directions make a better plan of the workspace, in the orders that were tried."""
    orders_are_proven: bool = False
    """Whether none do in any other order either."""
    other_buffers: bool = False
    """Whether other aliases, or strips, could have been chosen: proofs hold for these buffers only."""
    others: tuple[Analysis, ...] = ()
    """The candidates with other orders."""
    ways: tuple[Analysis, ...] = ()
    """Where models could run row by row: layer by layer, and row by row in each direction.  `bound` covers all."""
    in_rows: tuple[Analysis, ...] = ()
    """The candidates with other rows, or other orders of their jobs."""


class Orders:
    """The search for the best order: tries a few orders at first, and more of them in `finish`."""

    def __init__(self, replanner: Replanner, first: Analysis) -> None:
        """Try a few orders; `first` is of the files' orders, forward.

        Raises CheckFailed when the algorithm returns a wrong plan.
        """
        self._replanner = replanner
        self.first = first
        self.of_models = model_orders(replanner.request, first)
        better = {m: each.best for m, each in enumerate(self.of_models) if each and each.best}
        others = (replanner.retime(first, Choices(orders)) for orders in _combinations(better))
        self._first_candidates = [first, *others]
        self._incumbent = Incumbent(replanner, first, replanner.solve(first))
        for each in self._first_candidates:
            if replanner.takes_first and self._incumbent.plan is not None:
                break
            self._incumbent.look(
                each, PlanBudget(replanner.glance, effort.DIRECTION_PLANS // len(self._first_candidates))
            )
        self._bound = least_workspace(first, self.of_models)
        self.chosen = self._with_proofs(are_all=False)

    def finish(self) -> BestCandidate:
        """Try more orders, if any can be better; then plan the best choice with full effort."""
        if self._replanner.takes_first:
            return self.chosen
        if self._incumbent.workspace_bytes() > self._bound:
            self.chosen = self._with_proofs(self._try_more_orders(PlanBudget(self._replanner.glance)))
        return planned_again(self._replanner, self.chosen, self._replanner.attempt)

    def _with_proofs(self, are_all: bool) -> BestCandidate:
        """Return the incumbent with its proofs; `are_all`: all orders that could be better were tried."""
        best, bound = self._incumbent, self._bound
        if best.plan is None:
            return BestCandidate(self._first_candidates[0], None, bound)
        others = tuple(each for each in self._first_candidates if each is not best.chosen)
        directions_are_proven = best.directions_are_proven
        orders_are_proven = are_all and directions_are_proven
        if has_one_pool(best.chosen):
            bound = best.workspace_bytes() if orders_are_proven else bound
            orders_are_proven = best.workspace_bytes() == bound
            directions_are_proven = directions_are_proven or orders_are_proven
        return BestCandidate(best.analysis, best.plan, bound, directions_are_proven, orders_are_proven, others=others)

    def _try_more_orders(self, budget: PlanBudget) -> bool:
        """Try more orders of single models, lowest peaks first.

        Return whether no other orders of the models can make a better plan.
        """
        start = self._incumbent.chosen
        current = _orders(start)
        tried = set(map(_orders, self._first_candidates))
        most = min(effort.ORDERS, effort.ORDER_BUFFERS // max(1, len(start.problem.buffers))) // len(self.of_models)
        are_all, models = True, 0
        for model, orders in enumerate(self.of_models):
            if orders is None:
                continue  # statements have one order
            promising = _promising_orders(orders, self._incumbent, most)
            for each in promising.orders:
                if (*current[:model], each.order, *current[model + 1 :]) not in tried:
                    choices = Choices({**start.choices.orders, model: each.order})
                    self._incumbent.look(self._replanner.retime(self._first_candidates[0], choices), budget)
            are_all = are_all and promising.are_all
            models += any(each.order != current[model] for each in promising.orders)
        return are_all and models <= 1


def _orders(analysis: Analysis) -> tuple[tuple[int, ...], ...]:
    return tuple(analysis.choices.order(index, model) for index, model in enumerate(analysis.models))


def _promising_orders(orders: ModelOrders, incumbent: Incumbent, most: int) -> Below:
    """Return up to `most` orders of a model that may make a better plan.

    With one pool those are the orders with fewer bytes; with several, all orders if there are at most `most`.
    """
    fewer = incumbent.workspace_bytes() - workspace_always(incumbent.chosen)
    if has_one_pool(incumbent.chosen):
        return orders.below(fewer, most)
    all_orders = orders.below(None, most)
    return all_orders if all_orders.are_all else replace(orders.below(fewer, most), are_all=False)


def has_one_pool(analysis: Analysis) -> bool:
    """Tell whether all workspace is in the same pool: then the plan that needs less of it is better."""
    members = analysis.storage.workspace
    return len({pool for index in members for pool in analysis.problem.buffers[index].pools}) == 1


def _combinations(better: Mapping[int, tuple[int, ...]]) -> Iterator[Mapping[int, tuple[int, ...]]]:
    """Yield the better orders of all models; for few models then also all but each one, and each one alone.

    An order with a lower peak may still make a worse plan.
    """
    if better:
        yield better
    if 2 < len(better) <= effort.ORDER_MODELS:
        yield from ({m: order for m, order in better.items() if m != omitted} for omitted in better)
    if 1 < len(better) <= effort.ORDER_MODELS:
        yield from ({m: order} for m, order in better.items())


def planned_again(
    replanner: Replanner, chosen: BestCandidate, solve: Callable[[Problem], Plan | None]
) -> BestCandidate:
    """Plan the choice again, now that its directions are fixed, if it was planned with less effort or more freedom."""
    problem, plan = chosen.analysis.problem, chosen.plan
    if plan is None or not isinstance(replanner.algorithm, Auto) or not chosen.analysis.choices.directions:
        return chosen
    if is_best(problem, plan):
        return chosen
    again = solve(problem)
    is_worse = again is None or quality(problem, again) > quality(problem, plan)
    return chosen if is_worse else replace(chosen, plan=again)
