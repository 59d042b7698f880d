"""Audits a plan: places, then pairs, then all else that the plan states."""

from __future__ import annotations

import numpy as np

from usmp_build.errors import Diagnostic
from usmp_build.frozen import frozen
from usmp_build.planner.audit.facts import check_pools, check_shortage
from usmp_build.planner.audit.findings import Findings
from usmp_build.planner.audit.places import PlannedPlaces, check_places
from usmp_build.planner.audit.question import Audited
from usmp_build.planner.memory.overlaps import overlaps
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.problems.plan_file import PlanFile
from usmp_build.planner.problems.statement import Statement


@frozen
class AuditReport:
    """The result of an audit."""

    wrong: tuple[Diagnostic, ...]
    """Errors; empty: everything that can be checked is right."""
    unchecked: tuple[str, ...]
    """Statements of the plan that cannot be checked by inspection."""


def audit(statement: Statement, plan: PlanFile, capacity: int | None = None) -> AuditReport:
    """Check a plan against its problem.

    `capacity` is the limit, in bytes, of pools that have none; left out, it is the one that the plan states.
    """
    findings = Findings(plan.places)
    if capacity is None and plan.facts is not None:
        capacity = plan.facts.capacity
    question = Audited(statement, capacity)
    if plan.facts is not None and not plan.placed and statement.names:
        unchecked = list(check_shortage(question, plan.facts, findings))
        return AuditReport(findings.diagnostics, tuple(unchecked))
    places = check_places(question, plan, findings)
    if places is None:
        return AuditReport(findings.diagnostics, ())
    _check_pairs(question, places, findings)
    unchecked = list(check_pools(question, places, plan.facts, findings)) if plan.facts is not None else []
    return AuditReport(findings.diagnostics, tuple(unchecked))


def _check_pairs(question: Audited, places: PlannedPlaces, findings: Findings) -> None:
    """Check that no two conflicting buffers in one pool overlap, or come closer than allowed.

    Where conflicts follow from intervals, a sweep along the timeline checks intervals, and ignores conflicts that were
    derived from them.  Otherwise every stated pair is checked, one by one.
    """
    if question.is_timed:
        for pool in range(len(question.pools)):
            _sweep(question, places, pool, findings)
    else:
        for a in range(len(places.pools)):
            for b in question.conflicts(a):
                if a < b and places.pools[a] == places.pools[b]:
                    ahead = places.offsets[b] - places.offsets[a]
                    if ahead < question.separation(a, b) and -ahead < question.separation(b, a):
                        _report(question, places, a, b, findings)


def _sweep(question: Audited, places: PlannedPlaces, pool: int, findings: Findings) -> None:
    stated = question.statement.problem
    if isinstance(stated, Problem):
        members = [index for index, where in enumerate(places.pools) if where == pool]
        rows = np.array(list(question.rectangles(members)), dtype=np.int64).reshape(-1, 3)
        which, lower, upper = rows[:, 0], rows[:, 1], rows[:, 2]
        size = np.array([buffer.size for buffer in stated.buffers], dtype=np.int64)[which]
    else:
        which, lower, upper, size = np.arange(len(stated.size)), stated.lower, stated.upper, stated.size
    offset = np.array(places.offsets, dtype=np.int64)[which]
    for a, b in overlaps(lower, upper, offset, size):
        _report(question, places, int(which[a]), int(which[b]), findings)


def _report(question: Audited, places: PlannedPlaces, a: int, b: int, findings: Findings) -> None:
    a, b = min(a, b), max(a, b)
    one, other = (f'"{question.buffer(i).name}" [{places.offsets[i]:,}, {_end(question, places, i):,})' for i in (a, b))
    pool = question.pools[places.pools[a]].name
    steps = [(max(x, u), min(y, v)) for x, y in question.buffer(a).intervals for u, v in question.buffer(b).intervals]
    when = next((f" from step {start:,} to {stop - 1:,}" for start, stop in steps if start < stop), "")
    findings.add("V106", f"{one} and {other} overlap in {pool}{when}", places.stated[b].place)


def _end(question: Audited, places: PlannedPlaces, index: int) -> int:
    return places.offsets[index] + question.buffer(index).size
