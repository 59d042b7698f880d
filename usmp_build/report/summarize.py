"""Everything that people are told of a plan: sizes, bounds, proofs, and what words of the manifest cost."""

from __future__ import annotations

from usmp_build.errors import UsmpError
from usmp_build.layout import Summary
from usmp_build.planner.memory.plan import Plan
from usmp_build.report.larger_pools import in_larger_pools
from usmp_build.report.retention_cost import retention_cost
from usmp_build.report.rows import summarize_plan
from usmp_build.report.workspace_row import OtherWays
from usmp_build.search import workspace_bytes
from usmp_build.search.limits import Fitted
from usmp_build.search.replanner import Replanner


def summarize(replanner: Replanner, fitted: Fitted, plan: Plan) -> Summary:
    """Return the summary of a plan that was chosen within the limits and checked."""
    request, chosen = replanner.request, fitted.chosen
    others = OtherWays(
        max_live=max_live(replanner),
        any_schedule=chosen.bound,
        best_directions=chosen.directions_are_proven,
        best_order=chosen.orders_are_proven,
        other_buffers=chosen.other_buffers,
    )
    return summarize_plan(
        request,
        chosen.analysis,
        plan,
        workspace_bytes.standalone_bytes(request, chosen, plan),
        retention_cost(replanner, chosen.analysis, plan),
        in_larger_pools(replanner, fitted),
        others,
    )


def max_live(replanner: Replanner) -> int | None:
    """Return the bytes of workspace that are alive together in the models as their files have them.

    None where these cannot be analyzed without rewrites: this is one figure of a report, and refuses no plan.
    """
    try:
        return workspace_bytes.max_live(replanner.asking(replanner.request.as_filed()).analyze())
    except UsmpError:
        return None
