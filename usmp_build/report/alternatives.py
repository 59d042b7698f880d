"""What a plan is compared with: each figure takes separate planning, which generating code does not need."""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import count
from math import floor

from usmp_build import effort
from usmp_build.errors import UsmpError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Traffic
from usmp_build.ir.choices import FILE_ORDER
from usmp_build.layout import (
    AlternativesRecord,
    CompilerPlanRecord,
    KeepRecord,
    LargerPoolsRecord,
    LargerRecord,
    ModelAlternativesRecord,
)
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.limits import cheaper_elsewhere
from usmp_build.planner.memory.plan import Plan, peaks
from usmp_build.report.cost_row import total_cost
from usmp_build.request import Request
from usmp_build.search import workspace_bytes
from usmp_build.search.incumbent import workspace
from usmp_build.search.limits import Fitted, choose_without_limits
from usmp_build.search.operator_order import BestCandidate, Orders
from usmp_build.search.replanner import Replanner
from usmp_build.search.strips import choose
from usmp_build.search.workspace_bytes import workspace_needed


def alternatives(replanner: Replanner, fitted: Fitted, plan: Plan) -> AlternativesRecord:
    """Plan the models by themselves, without settings that cost memory, as filed, and in larger pools."""
    request, chosen = replanner.request, fitted.chosen
    standalone = [_alone(replanner, chosen, plan, model) for model in range(len(request.models))]
    keeps, concurrent = _retention_cost(replanner, chosen.analysis, plan)
    compiler_plans = [
        CompilerPlanRecord(**asdict(model.compiler_plan)) if model.compiler_plan else None for model in replanner.models
    ]
    models = zip((model.name for model in request.models), standalone, keeps, compiler_plans, strict=True)
    return AlternativesRecord(
        max_live=_max_live(replanner),
        models=tuple(ModelAlternativesRecord(*each) for each in models),
        concurrent_workspace=concurrent,
        larger_pools=_in_larger_pools(replanner, fitted, plan),
    )


def _alone(replanner: Replanner, chosen: BestCandidate, plan: Plan, index: int) -> int:
    """Return the bytes of workspace that a model takes where it is the only one.

    Of several models in one pool only the largest has a reason to need less, so only it runs row by row as far as it
    can: the one that takes as much as all together.  Any other is planned again, but one with connections, which is
    planned with its partners only.
    """
    request, together = replanner.request, workspace(chosen.analysis, plan)
    bytes_ = workspace_bytes.workspace_of(chosen.analysis, plan, index)
    if bytes_ == together or len(request.models) == 1 or not chosen.ways or request.connections:
        return workspace_bytes.standalone_bytes(request, chosen, plan, index)
    best = choose(replanner.of_model(index).by(Auto()))
    return bytes_ if best.plan is None else min(bytes_, workspace(best.analysis, best.plan))


def _max_live(replanner: Replanner) -> int | None:
    """Return the bytes of workspace that are alive together in the models as their files have them.

    None where these cannot be analyzed without rewrites: this is one figure of a report, and refuses no plan.
    """
    try:
        return workspace_bytes.max_live(replanner.asking(replanner.request.as_filed()).analyze())
    except UsmpError:
        return None


def _in_larger_pools(replanner: Replanner, fitted: Fitted, plan: Plan) -> LargerPoolsRecord | None:
    """Compare a plan with one in larger pools that has every buffer where it costs least.

    None where `plan` has that already, where no such plan is found, or where it saves nothing.
    """
    request, analysis = replanner.request, fitted.chosen.analysis
    dearer = cheaper_elsewhere(analysis.problem, plan)
    larger = _cheapest(replanner, fitted) if dearer else None
    if larger is None:
        return None
    algorithm, cheapest, cheapest_plan = larger
    saved = analysis.costs.in_reports(total_cost(analysis, plan))
    saved -= cheapest.costs.in_reports(total_cost(cheapest, cheapest_plan))
    if saved <= 0:
        return None
    sizes = zip(request.pools, peaks(cheapest.problem, cheapest_plan), strict=True)
    moved = [analysis.moved_by(model) for model in range(len(request.models))]
    traffic = sum((each.get(buffer, Traffic()) for each in moved for buffer in dearer), Traffic())
    return LargerPoolsRecord(
        pools=tuple(
            LargerRecord(pool.name, size, size - pool.limit)
            for pool, size in sizes
            if pool.limit is not None and size > pool.limit
        ),
        saved=floor(saved),
        moved=traffic.read + traffic.written,
        algorithm=algorithm,
    )


def _cheapest(replanner: Replanner, fitted: Fitted) -> tuple[str, Analysis, Plan] | None:
    """Plan without limits, by the request's algorithm or "auto"; None where neither puts all where it costs least."""
    request = replanner.request
    replanners = {request.algorithm: replanner}
    replanners.setdefault("auto", replanner.by(Auto()))
    for name, other in replanners.items():
        reused = fitted.unlimited if name == request.algorithm else None
        chosen = reused or choose_without_limits(other, range(len(request.pools)))
        if chosen and chosen.plan and not cheaper_elsewhere(chosen.analysis.problem, chosen.plan):
            return name, chosen.analysis, chosen.plan
    return None


def _retention_cost(
    replanner: Replanner, analysis: Analysis, plan: Plan
) -> tuple[tuple[tuple[KeepRecord, ...], ...], int]:
    """Return by model the cost of each setting that lets data outlive runs, and that of all concurrent pairs together.

    Both sides of a difference are the better of auto's plan and the given one, so that a weak algorithm does not count
    as the cost of a setting.  Without a setting another order of operators may be the best, so orders are searched
    again where that is quick.  Each setting takes another plan of the whole firmware: only the first ones are planned.
    """
    request = replanner.request
    settings = [list(model.retention_settings()) for model in request.models]
    buffers = analysis.problem.buffers
    is_quick = len(buffers) <= effort.RETENTION_ORDER_BUFFERS and all(len(buffer.pools) == 1 for buffer in buffers)

    def least_workspace(other: Request) -> int:
        variant = replanner.asking(other)
        candidates = [(variant.retime(analysis), plan), *([_in_other_orders(variant, analysis)] if is_quick else [])]
        return min(workspace_needed(timed, planned) for timed, planned in candidates if planned is not None)

    needed = least_workspace(request) if any(settings) or request.concurrent else 0

    def cost(other: Request) -> int:
        return max(0, needed - least_workspace(other))

    conflicts = sum(map(len, analysis.problem.conflicts))
    plans = min(effort.RETENTION_SETTINGS, 1 + effort.RETENTION_CONFLICTS // max(1, conflicts))
    number = count()
    keeps = tuple(
        tuple(
            KeepRecord(key, value, cost(request.with_model(index, default)) if next(number) < plans else None)
            for key, value, default in of_model
        )
        for index, of_model in enumerate(settings)
    )
    return keeps, cost(replace(request, concurrent=frozenset())) if request.concurrent else 0


def _in_other_orders(replanner: Replanner, analysis: Analysis) -> tuple[Analysis, Plan | None]:
    """Choose orders and directions again, by "auto", for a request that differs only in when things run."""
    chosen = Orders(replanner.by(Auto()), replanner.retime(analysis, FILE_ORDER)).chosen
    return chosen.analysis, chosen.plan
