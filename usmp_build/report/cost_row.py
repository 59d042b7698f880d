"""What a plan costs, and what the least cost could be."""

from __future__ import annotations

from math import floor

from usmp_build.interfaces.analysis import Analysis
from usmp_build.layout import CostRow
from usmp_build.planner.memory.plan import Plan
from usmp_build.request import Request


def cost_row(request: Request, analysis: Analysis, plan: Plan) -> CostRow:
    """Add up what the plan costs in one run of every model; rounded down, in the unit that people see."""
    total, bound = total_cost(analysis, plan), _bound(analysis, plan)
    return CostRow(
        unit=analysis.costs.unit.label,
        total=floor(analysis.costs.in_reports(total)),
        bound=floor(analysis.costs.in_reports(bound)),
        by_rank=tuple(request.pools[pool].name for pool in analysis.costs.unknown),
        is_least=total == bound,
        ranked_buffers=analysis.costs.ranked,
    )


def total_cost(analysis: Analysis, plan: Plan) -> int:
    """Return what the plan costs in one run of every model, in the unit of the memory problem."""
    pairs = zip(analysis.problem.buffers, plan.allocations, strict=True)
    return sum(buffer.cost_in(place.pool) for buffer, place in pairs)


def _bound(analysis: Analysis, plan: Plan) -> int:
    """No plan costs less: every buffer is where it costs least, or what the algorithm proved."""
    least = sum(buffer.least_cost for buffer in analysis.problem.buffers)
    return max(least, plan.bound[0] if plan.bound else 0)
