"""Analysis → a plan that was checked, or the reason why there is none."""

from __future__ import annotations

from usmp_build import arrange, plugins
from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.interfaces import Algorithm
from usmp_build.interfaces.analysis import Analysis
from usmp_build.memory.plan import Plan
from usmp_build.memory.verify import violations
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
