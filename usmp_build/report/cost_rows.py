"""What a plan costs, what the least cost could be, and which pools would have to be larger for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor

from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Traffic
from usmp_build.layout import CostRecord, LargerRecord, WithoutLimitsRecord
from usmp_build.planner.memory.limits import cheaper_elsewhere
from usmp_build.planner.memory.plan import Plan, peaks
from usmp_build.report.larger_pools import InLargerPools
from usmp_build.request import Request


def cost_row(request: Request, analysis: Analysis, plan: Plan) -> CostRecord:
    """Add up what the plan costs in one run of every model."""
    total, bound = _total(analysis, plan), _bound(analysis, plan)
    return CostRecord(
        unit=analysis.costs.unit.shown,
        total=_shown(analysis, total),
        bound=_shown(analysis, bound),
        least=total == bound,
        by_rank=tuple(request.pools[pool].name for pool in analysis.costs.unknown),
    )


def without_limits_row(
    request: Request,
    analysis: Analysis,
    plan: Plan,
    larger: InLargerPools | None,
    moved: Sequence[Mapping[int, Traffic]],
) -> WithoutLimitsRecord | None:
    """Compare a plan with one in larger pools; `moved[m]` is what model m moves.  None where that saves nothing."""
    if larger is None:
        return None
    saved = analysis.costs.shown(_total(analysis, plan)) - larger.analysis.costs.shown(
        _total(larger.analysis, larger.plan)
    )
    if saved <= 0:
        return None
    sizes = zip(request.pools, peaks(larger.analysis.problem, larger.plan), strict=True)
    away = cheaper_elsewhere(analysis.problem, plan)
    traffic = sum((own.get(buffer, Traffic()) for own in moved for buffer in away), Traffic())
    return WithoutLimitsRecord(
        pools=tuple(
            LargerRecord(pool.name, size, size - pool.limit)
            for pool, size in sizes
            if pool.limit is not None and size > pool.limit
        ),
        saved=floor(saved),
        moved=traffic.read + traffic.written,
        algorithm=larger.algorithm,
    )


def _total(analysis: Analysis, plan: Plan) -> int:
    pairs = zip(analysis.problem.buffers, plan.allocations, strict=True)
    return sum(buffer.cost_in(place.pool) for buffer, place in pairs)


def _bound(analysis: Analysis, plan: Plan) -> int:
    """No plan costs less: every buffer is where it costs least, or what the algorithm proved."""
    return max(_least(analysis), plan.bound[0] if plan.bound else 0)


def _least(analysis: Analysis) -> int:
    return sum(buffer.least_cost for buffer in analysis.problem.buffers)


def _shown(analysis: Analysis, cost: int) -> int:
    """Round down, in the unit that people see."""
    return floor(analysis.costs.shown(cost))
