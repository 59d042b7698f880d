"""Audits pairs: no two conflicting buffers overlap, or come closer than allowed.

Where conflicts follow from intervals, a sweep along the timeline checks intervals, and ignores conflicts that were
derived from them.  Otherwise every stated pair is checked, one by one.
"""

from __future__ import annotations

import numpy as np

from usmp_build.planner.audit.findings import Findings
from usmp_build.planner.audit.places import Places
from usmp_build.planner.audit.question import Question
from usmp_build.planner.memory.overlaps import overlaps
from usmp_build.planner.memory.problem import Problem


def check_pairs(question: Question, places: Places, findings: Findings) -> None:
    """Check each pair of buffers in one pool."""
    if question.is_timed:
        for pool in range(len(question.pools)):
            _sweep(question, places, pool, findings)
    else:
        _each_pair(question, places, findings)


def _sweep(question: Question, places: Places, pool: int, findings: Findings) -> None:
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


def _each_pair(question: Question, places: Places, findings: Findings) -> None:
    """Check that of two conflicting buffers, one starts far enough above the other."""
    for a in range(len(places.pools)):
        for b in question.conflicts(a):
            if a < b and places.pools[a] == places.pools[b]:
                ahead = places.offsets[b] - places.offsets[a]
                if ahead < question.separation(a, b) and -ahead < question.separation(b, a):
                    _report(question, places, a, b, findings)


def _report(question: Question, places: Places, a: int, b: int, findings: Findings) -> None:
    a, b = min(a, b), max(a, b)
    one, other = (f'"{question.buffer(i).name}" [{places.offsets[i]:,}, {_end(question, places, i):,})' for i in (a, b))
    pool = question.pools[places.pools[a]].name
    steps = [(max(x, u), min(y, v)) for x, y in question.buffer(a).intervals for u, v in question.buffer(b).intervals]
    when = next((f" from step {start:,} to {stop - 1:,}" for start, stop in steps if start < stop), "")
    findings.add("V106", f"{one} and {other} overlap in {pool}{when}", places.stated[b].place)


def _end(question: Question, places: Places, index: int) -> int:
    return places.offsets[index] + question.buffer(index).size
