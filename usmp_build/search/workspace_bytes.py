"""Best-known size of workspaces: from the current plan, or from a better one by "auto"."""

from __future__ import annotations

from collections.abc import Sequence

from usmp_build import effort
from usmp_build.interfaces.analysis import Analysis
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.bounds import pressure
from usmp_build.planner.memory.components import restricted
from usmp_build.planner.memory.plan import Plan, of_members, peaks, quality
from usmp_build.request import Request
from usmp_build.search.directions import PlanBudget, direct, reversible
from usmp_build.search.incumbent import workspace
from usmp_build.search.operator_order import BestCandidate


def standalone_bytes(request: Request, chosen: BestCandidate, plan: Plan, model: int) -> int:
    """Return the bytes of workspace that a model would need alone in these pools, with the same buffers.

    `plan` is that of `chosen`; its other orders are tried too.
    """
    analysis = chosen.analysis
    if len(request.models) == 1 and (chosen.directions_are_proven or request.algorithm == "auto"):
        return workspace(analysis, plan)
    sizes = [workspace_needed(analysis, plan, model)]
    others = {each.choices.orders.get(model): each for each in chosen.others}
    others.pop(analysis.choices.orders.get(model), None)
    for other in others.values():
        members = _of_model(other, model)
        other_plan = _best_plan(other, members)
        if other_plan is not None:
            sizes.append(_bytes(other, members, other_plan))
    return min(sizes)


def workspace_of(analysis: Analysis, plan: Plan, model: int) -> int:
    """Return the bytes of workspace that a plan takes for the buffers of one model."""
    members = _of_model(analysis, model)
    return _bytes(analysis, members, of_members(plan, members))


def workspace_needed(analysis: Analysis, plan: Plan, model: int | None = None) -> int:
    """Return the bytes of workspace of all models, or of one of them alone in these pools.

    `plan` may be of another analysis with the same buffers and more conflicts: it is valid with fewer, too.
    """
    members = _of_model(analysis, model)
    current = of_members(plan, members)
    return _bytes(analysis, members, _best_plan(analysis, members, current) or current)


def _of_model(analysis: Analysis, model: int | None) -> list[int]:
    """Return the workspace buffers that a model uses; None: all."""
    buffers = analysis.storage.buffers
    return [index for index in analysis.storage.workspace if model is None or model in buffers[index].models]


def _bytes(analysis: Analysis, members: Sequence[int], plan: Plan) -> int:
    return sum(peaks(restricted(analysis.problem, members), plan))


def _best_plan(analysis: Analysis, members: Sequence[int], current: Plan | None = None) -> Plan | None:
    """Return the best plan for these buffers, which may be `current`; None if no plan fits.

    If buffers have several candidate pools or are rows, "auto" runs with little effort: its full effort takes seconds
    there.  Directions are free, as for the firmware.
    """
    problem = restricted(analysis.problem, members)
    auto = Auto()
    has_choice = any(len(buffer.pools) > 1 for buffer in problem.buffers)
    auto_plan = auto.brief(problem) if has_choice or analysis.choices.by_rows.tables else auto(problem)
    plans = [each for each in (current, auto_plan) if each is not None]
    best = min(plans, key=lambda each: quality(problem, each), default=None)
    free = reversible(analysis, members)
    rank = free.rank(problem, best) if best else None
    return direct(free, PlanBudget(auto.brief, effort.STANDALONE_PLANS), rank, best).plan or best


def max_live(analysis: Analysis) -> int:
    """Return the peak bytes of live workspace over all pools; for a request `as_filed` that is max-live."""
    return pressure(analysis.problem, analysis.storage.workspace).bytes
