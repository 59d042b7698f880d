"""What a plan would save if its pools were larger."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Traffic
from usmp_build.layout import LargerPoolsRecord, LargerRecord
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.limits import cheaper_elsewhere
from usmp_build.planner.memory.plan import Plan, peaks
from usmp_build.report.cost_row import total_cost
from usmp_build.search.limits import Fitted, choose_without_limits
from usmp_build.search.replanner import Replanner


@dataclass(frozen=True, slots=True)
class _Larger:
    """A plan of the same request in pools as large as needed, with every buffer where it costs least."""

    analysis: Analysis
    plan: Plan
    algorithm: str
    """That made it, and makes one that costs as little within limits of its sizes."""


def in_larger_pools(replanner: Replanner, fitted: Fitted, plan: Plan) -> LargerPoolsRecord | None:
    """Compare a plan with one in larger pools that has every buffer where it costs least.

    None where `plan` has that already, where no such plan is found, or where it saves nothing.
    """
    request, analysis = replanner.request, fitted.chosen.analysis
    dearer = cheaper_elsewhere(analysis.problem, plan)
    larger = _in_larger_pools(replanner, fitted) if dearer else None
    if larger is None:
        return None
    saved = analysis.costs.in_reports(total_cost(analysis, plan))
    saved -= larger.analysis.costs.in_reports(total_cost(larger.analysis, larger.plan))
    if saved <= 0:
        return None
    sizes = zip(request.pools, peaks(larger.analysis.problem, larger.plan), strict=True)
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
        algorithm=larger.algorithm,
    )


def _in_larger_pools(replanner: Replanner, fitted: Fitted) -> _Larger | None:
    """Plan without limits, by the request's algorithm or "auto"; None where neither puts all where it costs least."""
    request = replanner.request
    replanners = {request.algorithm: replanner}
    replanners.setdefault("auto", replanner.by(Auto()))
    for name, other in replanners.items():
        reused = fitted.unlimited if name == request.algorithm else None
        chosen = reused or choose_without_limits(other, range(len(request.pools)))
        if chosen and chosen.plan and not cheaper_elsewhere(chosen.analysis.problem, chosen.plan):
            return _Larger(chosen.analysis, chosen.plan, name)
    return None
