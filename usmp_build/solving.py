"""Analysis → a plan that was checked, or the reason why there is none."""

from __future__ import annotations

from usmp_build import arrange, plugins
from usmp_build.algorithms.auto import Auto
from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.interfaces import Algorithm
from usmp_build.interfaces.analysis import Analysis
from usmp_build.memory.plan import Plan
from usmp_build.memory.problem import Problem
from usmp_build.memory.trials import Attempt, Trials
from usmp_build.memory.verify import violations
from usmp_build.memory.without_limits import (
    WithoutLimits,
    cheaper_elsewhere,
    problem_with_room_for,
    problem_without_limits,
)
from usmp_build.request import Request


def attempt(request: Request, analysis: Analysis, algorithm: Algorithm) -> Plan | None:
    """Run an algorithm and believe nothing it says; None when it finds no plan.

    Raises CheckFailed when it finds a wrong one.
    """
    found = algorithm(analysis.problem)
    if found is not None:
        _believe(found, request, analysis)
    return found


def settled(request: Request, analysis: Analysis, found: Plan) -> Plan:
    """Check a plan once more, with its constants in the order of the files that hold them."""
    _believe(found, request, analysis)
    grouped = arrange.group_constants(analysis.storage, analysis.problem, found)
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
    """Whether the algorithm puts every buffer of a problem where it costs least: "auto" often does so briefly."""
    ways = (algorithm.brief, algorithm) if isinstance(algorithm, Auto) else (algorithm,)
    return any(_succeeds(way, larger) for way in ways)


def _succeeds(way: Attempt, larger: Problem) -> bool:
    try:
        found = Trials(way, 1).plan(larger)
    except CheckFailed:  # it breaks down over a question that it need not answer
        return False
    return found is not None and not cheaper_elsewhere(larger, found)
