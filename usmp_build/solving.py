"""Analysis → a plan that was checked, or the reason why there is none."""

from __future__ import annotations

from usmp_build import arrange, plugins
from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.interfaces import Algorithm
from usmp_build.interfaces.analysis import Analysis
from usmp_build.memory.plan import Plan
from usmp_build.memory.problem import Problem
from usmp_build.memory.trials import Trials
from usmp_build.memory.verify import violations
from usmp_build.memory.without_limits import (
    WithoutLimits,
    cheaper_elsewhere,
    problem_with_room_for,
    problem_without_limits,
)
from usmp_build.refusal import refusal
from usmp_build.request import Request
from usmp_build.ways_out import Restate
from usmp_build.workspace import workspace_needed


def solve(request: Request, analysis: Analysis, algorithm: Algorithm, restate: Restate) -> Plan:
    """Run an algorithm and believe nothing it says; `restate` analyzes other requests for the same models.

    Raises DoesNotFit when it finds no plan, and CheckFailed when it finds a wrong one.
    """
    problem = analysis.problem
    found = algorithm(problem)
    if found is None:
        raise refusal(request, analysis, algorithm, restate)
    _believe(found, request, analysis)
    grouped = arrange.group_constants(analysis.storage, problem, found)
    _believe(grouped, request, analysis)
    return grouped


def _believe(found: Plan, request: Request, analysis: Analysis) -> None:
    if broken := violations(analysis.problem, found):
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        message = f"{plugins.title(request.algorithm)} returned a wrong plan: {broken[0]}{more}"
        raise CheckFailed(Diagnostic("P501", message, request.plan_span, "choose another one, and report this"))


def without_limits(request: Request, analysis: Analysis, plan: Plan, algorithm: Algorithm) -> WithoutLimits | None:
    """Plan with every buffer where it costs least, in pools as large as needed; None where it is there anyway.

    It is made by "auto"; None, too, when that finds nothing.  Then the algorithm of the manifest and "auto" are asked
    within limits of that size.
    """
    if not cheaper_elsewhere(analysis.problem, plan):
        return None
    auto = plugins.algorithm("auto", {}, "")
    found = auto(problem_without_limits(analysis.problem))
    if found is None:
        return None
    larger = problem_with_room_for(analysis.problem, found)
    reaching = (name for name, each in {request.algorithm: algorithm, "auto": auto}.items() if _reaches(each, larger))
    return WithoutLimits(found, next(reaching, None))


def _reaches(algorithm: Algorithm, larger: Problem) -> bool:
    """Whether the algorithm puts every buffer of a problem where it costs least."""
    try:
        found = Trials(algorithm, 1).plan(larger)
    except CheckFailed:  # it breaks down over a question that it need not answer
        return False
    return found is not None and not cheaper_elsewhere(larger, found)


def needs_alone(analysis: Analysis, plan: Plan) -> tuple[int, ...]:
    """Return for each model the bytes of workspace that it would need if it were the only one in these pools."""
    return tuple(workspace_needed(analysis, plan, model) for model in range(len(analysis.models)))
