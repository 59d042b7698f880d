"""The outermost loop: also plans without pool limits, and takes the result if it keeps the limits anyway.

A limit cuts off intermediate solutions of a search, so that without it the search may reach a plan that keeps it.  So
the firmware is also planned with limits lifted, and any result that fits is a candidate:

    all limits kept       first; final if no plan can be better
    all lifted            otherwise; then the algorithm runs again within the limits, with the orders, directions and
                          parts of that plan
    each lifted alone     where there is no plan yet
    all but each lifted   the same
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from usmp_build import effort
from usmp_build.errors import CheckFailed
from usmp_build.interfaces.analysis import Analysis
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.limits import cheaper_elsewhere, with_limits
from usmp_build.planner.memory.plan import Plan, quality
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.verify import violations
from usmp_build.request import Request
from usmp_build.search.concat_aliasing import choose, is_no_worse, operators_with_parts
from usmp_build.search.operator_order import BestCandidate
from usmp_build.search.replanner import Replanner


@dataclass(frozen=True)
class Fitted:
    """The best plan within the limits, and the one without them."""

    chosen: BestCandidate
    """Its plan is None if none fits; then orders, directions and parts are those of `unlimited`."""
    unlimited: BestCandidate | None
    """With all limits lifted; None: not planned, or there is no limit."""


def fit(replanner: Replanner) -> Fitted:
    """Plan within the limits of the request.  Raises CheckFailed when the algorithm returns a wrong plan."""
    request = replanner.request
    best = choose(replanner)
    limited_pools = _limited_pools(request, best.analysis)
    if not limited_pools or _cannot_gain(best):
        return Fitted(best, None)
    unlimited = choose_without_limits(replanner, limited_pools)
    if unlimited is None:
        return Fitted(best, None)
    candidate = _within(replanner, unlimited, replanner.glance if best.plan else replanner.attempt)
    if best.plan is None or _is_better(candidate, best):
        best = candidate
    for subset in islice(_subsets(limited_pools), effort.LIMITS_LIFTED):
        if best.plan is None and (other := choose_without_limits(replanner, subset)) is not None:
            candidate = _within(replanner, other, replanner.attempt)
            best = best if candidate.plan is None else candidate
    return Fitted(best, unlimited)


def choose_without_limits(replanner: Replanner, pools: Collection[int]) -> BestCandidate | None:
    """Choose with these pools unlimited; None if the algorithm returns a wrong plan, which is no error here."""
    try:
        return choose(replanner.asking(without_limits(replanner.request, pools)))
    except CheckFailed:
        return None


def without_limits(request: Request, pools: Collection[int]) -> Request:
    """Return the request with these pools unlimited."""
    pool_requests = (replace(pool, limit=None) if index in pools else pool for index, pool in enumerate(request.pools))
    return replace(request, pools=tuple(pool_requests))


def _limited_pools(request: Request, analysis: Analysis) -> tuple[int, ...]:
    """Return the pools with a limit that some buffer may use."""
    used = {pool for buffer in analysis.problem.buffers for pool in buffer.pools}
    return tuple(index for index, pool in enumerate(request.pools) if pool.limit is not None and index in used)


def _subsets(pools: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield each pool alone, then all but each one; nothing that equals all pools."""
    if len(pools) > 1:
        yield from ((pool,) for pool in pools)
    if len(pools) > 2:
        yield from (tuple(other for other in pools if other != pool) for pool in pools)


def _cannot_gain(chosen: BestCandidate) -> bool:
    """Tell whether lifting limits cannot help: the plan is proven best, or has every buffer where it costs least."""
    problem, plan = chosen.analysis.problem, chosen.plan
    if plan is None:
        return False
    return not cheaper_elsewhere(problem, plan) or (chosen.orders_are_proven and is_best(problem, plan))


def _is_better(one: BestCandidate, other: BestCandidate) -> bool:
    """Tell whether a plan ranks before another one; with other aliases, whether it is better in all respects."""
    if one.plan is None or other.plan is None:
        return one.plan is not None
    if operators_with_parts(one.analysis.models) == operators_with_parts(other.analysis.models):
        return quality(one.analysis.problem, one.plan) < quality(other.analysis.problem, other.plan)
    return is_no_worse(one, other) and not is_no_worse(other, one)


def _within(replanner: Replanner, chosen: BestCandidate, solve: Callable[[Problem], Plan | None]) -> BestCandidate:
    """Return a choice made with fewer limits, planned within those of the request; its plan is None if none fits.

    Proofs without limits also hold within them.
    """
    limits = [pool.limit for pool in replanner.request.pools]

    def within_limits(analysis: Analysis) -> Analysis:
        return replace(analysis, problem=with_limits(analysis.problem, limits))

    analysis = within_limits(chosen.analysis)
    plan = chosen.plan
    if plan is None or violations(analysis.problem, plan):
        plan = solve(analysis.problem)
    return replace(chosen, analysis=analysis, plan=plan, others=tuple(map(within_limits, chosen.others)))
