"""Verifies the plans of the requested algorithm, and puts the best one into its final form."""

from __future__ import annotations

from usmp_build.interfaces.analysis import Analysis
from usmp_build.planner import by_name
from usmp_build.planner.memory.plan import Plan
from usmp_build.request import Request
from usmp_build.search.group_constants import group_constants


def check(request: Request, analysis: Analysis, plan: Plan) -> None:
    """Raise CheckFailed if a plan of the requested algorithm is wrong."""
    by_name.check(analysis.problem, plan, request.algorithm, request.plan_span)


def finalize(request: Request, analysis: Analysis, plan: Plan) -> Plan:
    """Check the best plan again, with its constants in the order of the files that hold them."""
    check(request, analysis, plan)
    grouped = group_constants(analysis.storage, analysis.problem, plan)
    check(request, analysis, grouped)
    return grouped
