"""Audits a plan: places, then pairs, then all else that the plan states."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.errors import Diagnostic
from usmp_build.planner.audit.facts import check_pools, check_shortage
from usmp_build.planner.audit.findings import Findings
from usmp_build.planner.audit.pairs import check_pairs
from usmp_build.planner.audit.places import check_places
from usmp_build.planner.audit.question import Question
from usmp_build.planner.problems.plan_file import PlanFile
from usmp_build.planner.problems.statement import Statement


@dataclass(frozen=True, slots=True)
class Report:
    """The result of an audit."""

    wrong: tuple[Diagnostic, ...]
    """Errors; empty: everything that can be checked is right."""
    unchecked: tuple[str, ...]
    """Statements of the plan that cannot be checked by inspection."""


def audit(statement: Statement, plan: PlanFile, capacity: int | None = None) -> Report:
    """Check a plan against its problem.

    `capacity` is the limit, in bytes, of pools that have none; left out, it is the one that the plan states.
    """
    findings = Findings(plan.places)
    if capacity is None and plan.facts is not None:
        capacity = plan.facts.capacity
    question = Question(statement, capacity)
    if plan.facts is not None and not plan.placed and statement.names:
        unchecked = list(check_shortage(question, plan.facts, findings))
        return Report(findings.diagnostics, tuple(unchecked))
    places = check_places(question, plan, findings)
    if places is None:
        return Report(findings.diagnostics, ())
    check_pairs(question, places, findings)
    unchecked = list(check_pools(question, places, plan.facts, findings)) if plan.facts is not None else []
    return Report(findings.diagnostics, tuple(unchecked))
