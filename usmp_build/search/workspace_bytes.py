"""Bytes of workspace that buffers need, as well as we know: in the plan that there is, or in a better one of "auto"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from usmp_build import effort
from usmp_build.interfaces.analysis import Analysis
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.bounds import pressure
from usmp_build.planner.memory.components import restricted
from usmp_build.planner.memory.plan import Plan, of_members, peaks, quality
from usmp_build.request import Request
from usmp_build.search.directions import Budget, direct, reversible
from usmp_build.search.operator_order import Chosen


def standalone_bytes(request: Request, chosen: Chosen, plan: Plan) -> tuple[int, ...]:
    """Return for each model the bytes of workspace that it would need if it were the only one in these pools.

    `plan` is that of what was chosen; the other orders are tried, too.
    """
    analysis = chosen.analysis
    if len(request.models) == 1 and chosen.directions_are_proven:
        members = analysis.storage.workspace
        return (_bytes(analysis, members, of_members(plan, members)),)

    def needed(model: int) -> Iterator[int]:
        yield workspace_needed(request, analysis, plan, model)
        others = {each.choices.orders.get(model): each for each in chosen.others}
        others.pop(analysis.choices.orders.get(model), None)
        for other in others.values():
            members = _of_model(other, model)
            found = _planned(request, other, members)
            if found is not None:
                yield _bytes(other, members, found)

    return tuple(min(needed(model)) for model in range(len(request.models)))


def workspace_needed(request: Request, analysis: Analysis, plan: Plan, model: int | None = None) -> int:
    """Return the bytes of workspace of all models, or of one of them if it were the only one in these pools.

    `plan` may be that of another analysis, of the same buffers with more conflicts: what fits with those fits without.
    """
    members = _of_model(analysis, model)
    known = of_members(plan, members)
    return _bytes(analysis, members, _planned(request, analysis, members, known) or known)


def _of_model(analysis: Analysis, model: int | None) -> list[int]:
    """Return the buffers of workspace that a model uses; None: all."""
    buffers = analysis.storage.buffers
    return [index for index in analysis.storage.workspace if model is None or model in buffers[index].models]


def _bytes(analysis: Analysis, members: Sequence[int], plan: Plan) -> int:
    return sum(peaks(restricted(analysis.problem, members), plan))


def _planned(request: Request, analysis: Analysis, members: Sequence[int], known: Plan | None = None) -> Plan | None:
    """Return the best plan that is found for some buffers, perhaps the one that is known; None: none is found.

    Where buffers have several pools, "auto" is asked briefly: its whole work takes seconds there.
    Directions are free, as they are for the firmware.
    """
    problem = restricted(analysis.problem, members)
    auto = Auto()
    several = any(len(buffer.pools) > 1 for buffer in problem.buffers)
    found = auto.brief(problem) if several else auto(problem)
    plans = [each for each in (known, found) if each is not None]
    best = min(plans, key=lambda each: quality(problem, each), default=None)
    free = reversible(request, analysis, members)
    rank = free.rank(problem, best) if best else None
    return direct(free, Budget(auto.brief, effort.STANDALONE_PLANS), rank, best).plan or best


def max_live(analysis: Analysis) -> int:
    """Return the bytes of workspace that are alive together, in whichever pools: of a request `as_filed`, max-live."""
    return pressure(analysis.problem, analysis.storage.workspace).bytes
