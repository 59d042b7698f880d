"""The loop over orders: which order of operators makes the best plan, with the directions that suit it?

    the files' order, forward             solved first: nothing that is worse is ever chosen
    the files' order                      each operator from the end that the plan asks for (see `directing`)
    orders with fewer bytes alive         the same, for models that have such an order (see `passes.order`): for all
                                          of them, and for some
    all orders of a small graph           the same, for those that may still do better: the plan need not reach what is
                                          alive in an order, and of two that look alike one may come closer to it

`directing` is the loop inside, and `parting` the one outside: it asks once for each way to share parts of tensors.  All
orders are looked at for the best of these only.
Beside the best plan this one tells what is known of all others: `passes.order` how little any order and any directions
need, `directing` whether its search ended.  Where both went through all there is, the plan itself is the bound.

Neither order nor direction changes how many instructions run, so both are free whatever the goal of a model is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from usmp_build import solving
from usmp_build.algorithms.auto import Auto
from usmp_build.candidates import Candidates, brief, careful
from usmp_build.directing import PLANS, Budget
from usmp_build.interfaces import Algorithm
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.choices import Choices
from usmp_build.memory.best import is_best
from usmp_build.memory.plan import Plan, quality
from usmp_build.passes.order import Below, ModelOrders, least_workspace, model_orders, workspace_always
from usmp_build.request import Request

_FEW = 4
"""Models whose orders are tried one by one, too."""
_MORE = 32
"""Orders that are tried where those with the fewest bytes alive leave a gap, as many of each model."""
_MORE_BUFFERS = 2_048
"""In all of these together: large problems take long."""


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
    further: Callable[[], Chosen] | None = field(default=None, compare=False, repr=False)
    """Look at more orders; None: none can be better."""


def choose(request: Request, first: Analysis, algorithm: Algorithm, ordered: Callable[[Choices], Analysis]) -> Chosen:
    """Return the best of a few candidates; `first` is of the files' orders, forward.

    `ordered` analyzes the same request with other orders.  Raises CheckFailed when the algorithm finds a wrong plan.
    """
    orders = model_orders(request, first)
    better = {m: each.best for m, each in enumerate(orders) if each and each.best}
    few = [first, *(ordered(Choices(some)) for some in _some(better))]
    candidates = Candidates(request, algorithm, first, solving.attempt(request, first, algorithm))
    for each in few:
        candidates.look(each, Budget(brief(algorithm), PLANS // len(few)))
    bound = least_workspace(first, orders)

    def further() -> Chosen:
        are_all = _look_further(candidates, few, orders, ordered, Budget(brief(algorithm)))
        return known if candidates.plan is None else _judged(candidates, few, bound, are_all)

    known = Chosen(first, None, bound) if candidates.plan is None else _judged(candidates, few, bound, are_all=False)
    return replace(known, further=further) if candidates.room() > bound else known


def _judged(candidates: Candidates, few: Sequence[Analysis], bound: int, are_all: bool) -> Chosen:
    """Say what is known of the best candidate, if `are_all` that can be better than it were looked at."""
    others = tuple(each for each in few if each is not candidates.chosen)
    directions_are_proven = candidates.directions_are_proven
    orders_are_proven = are_all and directions_are_proven
    if _has_one_pool(candidates.chosen):
        bound = candidates.room() if orders_are_proven else bound
        orders_are_proven = candidates.room() == bound
        directions_are_proven = directions_are_proven or orders_are_proven
    return Chosen(candidates.analysis, candidates.plan, bound, directions_are_proven, orders_are_proven, others=others)


def _look_further(
    candidates: Candidates,
    few: Sequence[Analysis],
    orders: Sequence[ModelOrders | None],
    ordered: Callable[[Choices], Analysis],
    budget: Budget,
) -> bool:
    """Look at more orders of single models, the fewest bytes alive first.

    Return whether no others of all models can make a better plan.
    """
    start = candidates.chosen
    current = _orders(start)
    looked_at = set(map(_orders, few))
    most = min(_MORE, _MORE_BUFFERS // max(1, len(start.problem.buffers))) // len(orders)
    are_all, models = True, 0
    for model, own in enumerate(orders):
        if own is None:
            continue  # statements have one order
        worth = _worth_a_look(own, candidates, most)
        for found in worth.orders:
            if (*current[:model], found.order, *current[model + 1 :]) not in looked_at:
                candidates.look(ordered(Choices({**start.choices.orders, model: found.order})), budget)
        are_all = are_all and worth.are_all
        models += any(found.order != current[model] for found in worth.orders)
    return are_all and models <= 1


def _orders(analysis: Analysis) -> tuple[tuple[int, ...], ...]:
    """Return the orders of all models."""
    return tuple(analysis.choices.order(index, model) for index, model in enumerate(analysis.models))


def _worth_a_look(own: ModelOrders, candidates: Candidates, most: int) -> Below:
    """Return up to `most` orders of a model that may make a better plan.

    In one pool that is one with fewer bytes.  In several of them any order may make it, if all orders are so few.
    """
    fewer = candidates.room() - workspace_always(candidates.chosen)
    if _has_one_pool(candidates.chosen):
        return own.below(fewer, most)
    every = own.below(None, most)
    return every if every.are_all else replace(own.below(fewer, most), are_all=False)


def _has_one_pool(analysis: Analysis) -> bool:
    """Whether all workspace is in the same pool: then the better plan is the one that needs less of it."""
    members = analysis.storage.workspace
    return len({pool for index in members for pool in analysis.problem.buffers[index].pools}) == 1


def _some(better: Mapping[int, tuple[int, ...]]) -> Iterator[Mapping[int, tuple[int, ...]]]:
    """Yield the orders of all models; then, as one may spoil it, without each, and with each alone, while they are few.

    An order in which fewer bytes are alive may still be the worse one for the plan.
    """
    if better:
        yield better
    if 2 < len(better) <= _FEW:
        yield from ({m: order for m, order in better.items() if m != spoiled} for spoiled in better)
    if 1 < len(better) <= _FEW:
        yield from ({m: order} for m, order in better.items())


def refined(chosen: Chosen, algorithm: Algorithm) -> Chosen:
    """Plan what was chosen once more, with all the work that the algorithm does, if less was done before."""
    problem, plan = chosen.analysis.problem, chosen.plan
    if plan is None or not isinstance(algorithm, Auto) or not chosen.analysis.choices.directions:
        return chosen
    if is_best(problem, plan):
        return chosen
    found = careful(algorithm)(problem)
    return chosen if found is None or quality(problem, found) > quality(problem, plan) else replace(chosen, plan=found)
