"""Plans problems that are timelines: one pool, one interval per buffer, and conflicts that follow from intervals."""

from __future__ import annotations

import numpy as np

from usmp_build.planner.algorithms.large import plan_timeline
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.timeline import Array, Timeline, are_powers_of_two, most_together


def plan_as_timeline(problem: Problem) -> Plan | None:
    """Plan a problem as a timeline; None where it is none, or the plan does not fit into the pool."""
    timeline = _timeline(problem)
    if timeline is None:
        return None
    offsets, peak, work = plan_timeline(timeline)
    if timeline.limit is not None and peak > timeline.limit:
        return None
    pool = problem.buffers[0].pools[0]
    return Plan("large", tuple(Allocation(pool, offset) for offset in offsets.tolist()), work=work)


def _timeline(problem: Problem) -> Timeline | None:
    buffers = problem.buffers
    pools = {buffer.pools for buffer in buffers}
    simple = all(len(buffer.intervals) == 1 and buffer.offset is None for buffer in buffers)
    if problem.separations or not simple or len(pools) != 1 or len(min(pools)) != 1:
        return None
    if sum(buffer.size + buffer.alignment for buffer in buffers) > most_together(len(buffers)):
        return None
    lower, upper = np.array([buffer.intervals[0] for buffer in buffers], dtype=np.int64).T
    size = np.array([buffer.size for buffer in buffers], dtype=np.int64)
    alignment = np.array([buffer.alignment for buffer in buffers], dtype=np.int64)
    if not are_powers_of_two(alignment) or not _conflicts_follow(problem, lower, upper):
        return None
    return Timeline(lower, upper, size, alignment, problem.pools[min(pools)[0]].limit)


def _conflicts_follow(problem: Problem, lower: Array, upper: Array) -> bool:
    """Whether exactly those buffers conflict that share a step.

    Of the buffers born before one dies, all that do not die before its birth are alive with it, itself included.
    """
    born = np.searchsorted(np.sort(lower), upper, side="left")
    died = np.searchsorted(np.sort(upper), lower, side="right")
    counts = np.array([len(others) for others in problem.conflicts], dtype=np.int64)
    if (born - died - 1 != counts).any():
        return False
    each = np.repeat(np.arange(len(counts)), counts)
    other = np.array([index for others in problem.conflicts for index in others], dtype=np.int64)
    return bool(((lower[each] < upper[other]) & (lower[other] < upper[each])).all())
