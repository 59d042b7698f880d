"""The outermost loop: also plans without pool limits, and takes the result if it keeps the limits anyway.

A limit cuts off intermediate solutions of a search, so that without it the search may reach a plan that keeps it.  So
the firmware is also planned with limits lifted, and any result that fits is a candidate:

    all limits kept       first; final if no plan can be better
    all lifted            otherwise.  A plan that fits is taken, unless the one before is better; else the algorithm
                          runs again within the limits, with the orders, directions and parts of that plan
    each lifted alone     where there is no plan yet, and none is known to be impossible
    all but each lifted   the same

Nothing is searched within limits that the inputs or outputs of a model exceed by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from usmp_build import effort
from usmp_build.errors import CheckFailed
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.bounds import unmet
from usmp_build.planner.memory.components import restricted
from usmp_build.planner.memory.limits import cheaper_elsewhere, with_limits
from usmp_build.planner.memory.plan import Plan, quality
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.verify import violations
from usmp_build.request import Request
from usmp_build.search.concat_aliasing import is_no_worse, operators_with_parts
from usmp_build.search.moved_rows import with_moves
from usmp_build.search.operator_order import BestCandidate
from usmp_build.search.replanner import Replanner
from usmp_build.search.strips import choose


@frozen
class Fitted:
    """The best plan within the limits, and the one without them."""

    chosen: BestCandidate
    """Its plan is None if none fits; then orders, directions and parts are those of `unlimited`."""
    unlimited: BestCandidate | None
    """With all limits lifted; None: not planned, or there is no limit."""


def fit(replanner: Replanner) -> Fitted:
    """Plan within the limits of the request.  Raises CheckFailed when the algorithm returns a wrong plan."""
    first = replanner.analyze()
    limited_pools = _limited_pools(replanner.request, first)
    if limited_pools and ports_exceed_limits(replanner.request, first):
        return _without_plan(replanner, first, limited_pools)
    best = choose(replanner, first)
    if not limited_pools or _cannot_gain(best):
        return Fitted(best, None)
    unlimited = choose_without_limits(replanner, limited_pools)
    if unlimited is None:
        return Fitted(best, None)
    if best.plan is None and _is_impossible(replanner.request, unlimited):
        return Fitted(_within(replanner, unlimited, _no_plan), unlimited)
    candidate = _within(replanner, unlimited, replanner.glance if best.plan else replanner.attempt)
    if _is_better(candidate, best) or (candidate.plan is unlimited.plan and _are_apart(candidate, best)):
        best = candidate
    if best.plan is None:
        best = next(_with_fewer_limits(replanner, limited_pools), best)
    return Fitted(best, unlimited)


def _limited_pools(request: Request, analysis: Analysis) -> tuple[int, ...]:
    """Return the pools with a limit that some buffer may use."""
    used = {pool for buffer in analysis.problem.buffers for pool in buffer.pools}
    return tuple(index for index, pool in enumerate(request.pools) if pool.limit is not None and index in used)


def ports_exceed_limits(request: Request, analysis: Analysis) -> bool:
    """Tell whether the inputs or the outputs of a model do not fit beside what is always alive: then there is no plan.

    They are in one piece, and alive together when a run begins or ends, whatever the order, the rows and the parts.
    """
    buffers, always = analysis.storage.buffers, analysis.survivors.always
    for index, (asked, model) in enumerate(zip(request.models, analysis.models, strict=True)):
        if asked.has_row_ports or operators_with_parts([model]):
            continue
        for kind in (Kind.INPUT, Kind.OUTPUT):
            ports = {i for i, buffer in enumerate(buffers) if buffer.kind is kind and index in buffer.models}
            if unmet(restricted(analysis.problem, sorted(ports | always))):
                return True
    return False


def _without_plan(replanner: Replanner, first: Analysis, limited_pools: Collection[int]) -> Fitted:
    """Return what explains that there is no plan: one without limits, made with little effort."""
    unlimited = choose_without_limits(replanner.briefly(), limited_pools)
    if unlimited is None:
        return Fitted(BestCandidate(first, None, 0), None)
    return Fitted(_within(replanner, unlimited, _no_plan), unlimited)


def _no_plan(_: Problem) -> None:
    """Look for no plan where there is none."""


def _is_impossible(request: Request, unlimited: BestCandidate) -> bool:
    """Tell whether a bound of all orders, directions and rows proves that no plan keeps the limits."""
    buffers = unlimited.analysis.problem.buffers
    pools = {pool for index in unlimited.analysis.storage.workspace for pool in buffers[index].pools}
    limits = [limit for pool in pools if (limit := request.pools[pool].limit) is not None]
    return len(limits) == len(pools) and not unlimited.other_buffers and unlimited.bound > sum(limits)


def choose_without_limits(replanner: Replanner, pools: Collection[int]) -> BestCandidate | None:
    """Choose with these pools unlimited; None if the algorithm returns a wrong plan, which is no error here."""
    try:
        return choose(replanner.asking(without_limits(replanner.request, pools)))
    except CheckFailed:
        return None


def _with_fewer_limits(replanner: Replanner, pools: Sequence[int]) -> Iterator[BestCandidate]:
    """Yield choices made with some of these pools unlimited that fit."""
    for subset in islice(_subsets(pools), effort.LIMITS_LIFTED):
        unlimited = choose_without_limits(replanner, subset)
        if unlimited is not None:
            candidate = _within(replanner, unlimited, replanner.attempt)
            if candidate.plan is not None:
                yield candidate


def without_limits(request: Request, pools: Collection[int]) -> Request:
    """Return the request with these pools unlimited."""
    pool_requests = (replace(pool, limit=None) if index in pools else pool for index, pool in enumerate(request.pools))
    return replace(request, pools=tuple(pool_requests))


def _subsets(pools: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield each pool alone, then all but each one; nothing that equals all pools."""
    if len(pools) > 1:
        yield from ((pool,) for pool in pools)
    if len(pools) > 2:
        yield from (tuple(other for other in pools if other != pool) for pool in pools)


def _cannot_gain(chosen: BestCandidate) -> bool:
    """Tell whether lifting limits cannot help: the plan is proven best, or has every buffer where it costs least.

    With other aliases, or without rows, the plan may cost less: within the limits they were compared with what the
    limits made dearer, or with no plan at all.
    """
    problem, plan = chosen.analysis.problem, chosen.plan
    has_other_buffers = chosen.other_buffers or bool(chosen.analysis.choices.by_rows.jobs)
    if plan is None or (has_other_buffers and quality(problem, plan)[0] > 0):
        return False
    return not cheaper_elsewhere(problem, plan) or (chosen.orders_are_proven and is_best(problem, plan))


def _is_better(one: BestCandidate, other: BestCandidate) -> bool:
    """Tell whether a plan is better than another, or there is no other; with other aliases, in all respects."""
    if one.plan is None or other.plan is None:
        return other.plan is None
    if operators_with_parts(one.analysis.models) == operators_with_parts(other.analysis.models):
        return quality(one.analysis.problem, one.plan) < quality(other.analysis.problem, other.plan)
    return is_no_worse(one, other) and not is_no_worse(other, one)


def _are_apart(one: BestCandidate, other: BestCandidate) -> bool:
    """Tell whether two plans have other aliases, and neither is better in all respects."""
    if one.plan is None:
        return False
    sites = [operators_with_parts(each.analysis.models) for each in (one, other)]
    return sites[0] != sites[1] and is_no_worse(one, other) == is_no_worse(other, one)


def _within(replanner: Replanner, chosen: BestCandidate, solve: Callable[[Problem], Plan | None]) -> BestCandidate:
    """Return a choice made with fewer limits, planned within those of the request; its plan is None if none fits.

    Proofs without limits also hold within them; moves were made for the plan without them.
    """
    limits = [pool.limit for pool in replanner.request.pools]

    def within_limits(analysis: Analysis) -> Analysis:
        return replace(analysis, problem=with_limits(analysis.problem, limits))

    analysis, others = within_limits(chosen.analysis), tuple(map(within_limits, chosen.others))
    if chosen.plan is not None and not violations(analysis.problem, chosen.plan):
        return replace(chosen, analysis=analysis, others=others)
    choices = analysis.choices
    fixed = replanner.retime(analysis, choices.without_moves()) if choices.moves else analysis
    plan = solve(fixed.problem)
    if plan is None:
        return replace(chosen, analysis=analysis, plan=None, others=others)
    return with_moves(replanner, replace(chosen, analysis=fixed, plan=plan, others=others))
