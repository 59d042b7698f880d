"""The outermost loop: plans that were made without limits, and keep them all the same.

A limit bars a search from what it would have passed through, so without it the search may reach a plan that keeps it.
So the firmware is also planned with limits lifted, and whatever then fits is a candidate:

    all limits kept       first; the answer, if no plan can be better
    all lifted            else this, too; and with its orders, directions and parts the algorithm is asked once more
    each lifted alone     where there is no plan yet
    all but each lifted   the same
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from usmp_build import arrange
from usmp_build.candidates import careful
from usmp_build.choosing import Chosen
from usmp_build.errors import CheckFailed
from usmp_build.interfaces import Algorithm
from usmp_build.interfaces.analysis import Analysis
from usmp_build.memory.best import is_best
from usmp_build.memory.limits import cheaper_elsewhere, with_limits
from usmp_build.memory.plan import quality
from usmp_build.memory.verify import violations
from usmp_build.parting import is_no_worse, operators_with_parts
from usmp_build.request import Request

_MOST = 6
"""Requests with a part of the limits lifted that are planned; each takes as long as the first plan."""

Choose: TypeAlias = Callable[[Request], Chosen]


@dataclass(frozen=True)
class Fitted:
    """The best plan within the limits, and what would be without them."""

    chosen: Chosen
    """Its plan is None where no plan was found; then orders, directions and parts are those of `unlimited`."""
    unlimited: Chosen | None
    """With all limits lifted; None: not planned, or there is no limit."""


def fitted(request: Request, choose: Choose, algorithm: Algorithm) -> Fitted:
    """Plan within the limits of a request; `choose` takes it, or the same with other limits.

    Raises CheckFailed when the algorithm finds a wrong plan.
    """
    best = choose(request)
    limited = _limited(request, best.analysis)
    if not limited or _cannot_be_better(best):
        return Fitted(best, None)
    unlimited = _careful(choose, lifted(request, limited))
    if unlimited is None:
        return Fitted(best, None)
    candidate = _within(request, unlimited, algorithm)
    if best.plan is None or _is_better(candidate, best):
        best = candidate
    for few in islice(_some(limited), _MOST):
        if best.plan is None and (other := _careful(choose, lifted(request, few))) is not None:
            candidate = _within(request, other, algorithm)
            best = best if candidate.plan is None else candidate
    return Fitted(best, unlimited)


def cheapest(request: Request, fitted: Fitted, algorithms: Mapping[str, Choose]) -> arrange.InLargerPools | None:
    """Return a plan in larger pools with every buffer where it costs least, by the first algorithm that has one.

    None where all of them are there within the limits, or no algorithm has such a plan.
    """
    plan = fitted.chosen.plan
    if plan is None or not cheaper_elsewhere(fitted.chosen.analysis.problem, plan):
        return None
    free = lifted(request, range(len(request.pools)))
    for name, choose in algorithms.items():
        reused = fitted.unlimited if name == request.algorithm else None
        chosen = reused or _careful(choose, free)
        if chosen and chosen.plan and not cheaper_elsewhere(chosen.analysis.problem, chosen.plan):
            return arrange.InLargerPools(chosen.analysis, chosen.plan, name)
    return None


def lifted(request: Request, pools: Collection[int]) -> Request:
    """Return the request with these pools as large as needed."""
    each = (replace(pool, limit=None) if index in pools else pool for index, pool in enumerate(request.pools))
    return replace(request, pools=tuple(each))


def _limited(request: Request, analysis: Analysis) -> tuple[int, ...]:
    """Return the pools with a limit that some buffer may use."""
    used = {pool for buffer in analysis.problem.buffers for pool in buffer.pools}
    return tuple(index for index, pool in enumerate(request.pools) if pool.limit is not None and index in used)


def _some(pools: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield each pool, then all but each."""
    if len(pools) > 1:
        yield from ((pool,) for pool in pools)
    if len(pools) > 2:
        yield from (tuple(other for other in pools if other != pool) for pool in pools)


def _careful(choose: Choose, request: Request) -> Chosen | None:
    """Choose for a request that is a question of ours: a wrong plan is none."""
    try:
        return choose(request)
    except CheckFailed:
        return None


def _cannot_be_better(chosen: Chosen) -> bool:
    return chosen.plan is not None and chosen.orders_are_proven and is_best(chosen.analysis.problem, chosen.plan)


def _is_better(one: Chosen, other: Chosen) -> bool:
    """Whether a plan ranks before another one; with other parts of tensors, whether it is better in all respects."""
    if one.plan is None or other.plan is None:
        return one.plan is not None
    if operators_with_parts(one.analysis.models) == operators_with_parts(other.analysis.models):
        return quality(one.analysis.problem, one.plan) < quality(other.analysis.problem, other.plan)
    return is_no_worse(one, other) and not is_no_worse(other, one)


def _within(request: Request, chosen: Chosen, algorithm: Algorithm) -> Chosen:
    """Return what was chosen with fewer limits as a choice within those of the request; its plan is None if none is.

    What is proven without limits holds within them.
    """
    limits = [pool.limit for pool in request.pools]

    def stated(analysis: Analysis) -> Analysis:
        return replace(analysis, problem=with_limits(analysis.problem, limits))

    analysis = stated(chosen.analysis)
    plan = chosen.plan
    if plan is None or violations(analysis.problem, plan):
        plan = careful(algorithm)(analysis.problem)
    return replace(chosen, analysis=analysis, plan=plan, others=tuple(map(stated, chosen.others)))
