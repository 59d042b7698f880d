"""Runs algorithms and checks their plans: no plan counts before it was verified."""

from __future__ import annotations

from collections.abc import Callable

from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.interfaces.analysis import Analysis
from usmp_build.planner import by_name
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.verify import violations
from usmp_build.request import Request
from usmp_build.search.group_constants import group_constants


def attempt(algorithm: Callable[[Problem], Plan | None], problem: Problem) -> Plan | None:
    """Run an algorithm speculatively: a failure or a wrong plan counts as no plan."""
    try:
        plan = algorithm(problem)
    except CheckFailed:
        return None
    return None if plan is None or violations(problem, plan) else plan


def check(request: Request, analysis: Analysis, plan: Plan) -> None:
    """Raise CheckFailed if a plan of the requested algorithm is wrong."""
    if broken := violations(analysis.problem, plan):
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        message = f"{by_name.title(request.algorithm)} returned a wrong plan: {broken[0]}{more}"
        raise CheckFailed(Diagnostic("P501", message, request.plan_span, "choose another one, and report this"))


def finalize(request: Request, analysis: Analysis, plan: Plan) -> Plan:
    """Check the best plan again, with its constants in the order of the files that hold them."""
    check(request, analysis, plan)
    grouped = group_constants(analysis.storage, analysis.problem, plan)
    check(request, analysis, grouped)
    return grouped
