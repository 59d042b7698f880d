"""What all workspace pools take together, and what they could not be without."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.layout import PoolRow, WorkspaceRecord
from usmp_build.search.operator_order import BestCandidate
from usmp_build.units import count_bytes


def workspace_record(chosen: BestCandidate, pools: Sequence[PoolRow], is_best: bool) -> WorkspaceRecord:
    """Add up the workspace pools of a plan that is, or is not known to be, the best of its schedule.

    Raises CheckFailed when it takes less than was said to be needed.
    """
    workspaces = [pool for pool in pools if pool.is_workspace]
    floor = _floor(chosen.analysis)
    any_schedule = max(chosen.bound, floor)
    with_overlap = max(any_schedule, sum(pool.bound for pool in workspaces))
    achieved = sum(pool.size for pool in workspaces)
    if with_overlap > achieved:
        message = f"the plan takes {count_bytes(achieved)} of workspace, where {with_overlap:,} were said to be needed"
        raise CheckFailed(Diagnostic("P503", message, help="report this, with the manifest and its models"))
    return WorkspaceRecord(
        any_schedule=any_schedule,
        with_overlap=with_overlap,
        achieved=achieved,
        floor=floor,
        proven=_proven(chosen, is_best),
    )


def _proven(chosen: BestCandidate, is_best: bool) -> Literal["every order", "this order", "this schedule", "nothing"]:
    """Name all schedules that are proven to have no better plan."""
    if chosen.orders_are_proven:
        return "every order"
    if chosen.directions_are_proven:
        return "this order"
    return "this schedule" if is_best else "nothing"


def _floor(analysis: Analysis) -> int:
    """Return the most bytes that are alive when a run of some model begins, or when it ends.

    No operator runs then, so no kernel lets two of these buffers overlap, and no order of operators changes them.
    """
    starts = analysis.schedule.starts
    ends = {step for start, stop in pairwise(starts) for step in (start, stop - 1)}
    return max((_alive(analysis, step) for step in ends), default=0)


def _alive(analysis: Analysis, step: int) -> int:
    buffers = zip(analysis.storage.buffers, analysis.lifetimes.intervals, strict=True)
    return sum(
        buffer.size
        for buffer, intervals in buffers
        if buffer.kind is not Kind.CONSTANT and any(start <= step < stop for start, stop in intervals)
    )
