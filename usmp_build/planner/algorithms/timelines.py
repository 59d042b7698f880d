"""Plans for very many buffers in one pool: first fit by load, then repair of the spots that are too high.

    offset ^        what ends above the greatest load, "x", is cut out with its neighborhood, and searched again
           |   _______                   _______
    load --|--|---x---|-----------------|---x---|-----
           |  |_______|    ______       |_______|
           |    |core|    |______|       |core|
           +-+------------------------------------> step

First fit visits each buffer a few dozen times, and is seldom more than a few percent above the load.  Where it is, a
few hundred buffers matter, and the exact search places those: so effort grows with the number of buffers, not with
that of their pairs.  If the peak stays well above the load, further orders are tried, and the lowest plan is kept.
All work is counted, so that the result is the same on every machine.  `core/timelines.cpp` does it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from usmp_build import effort
from usmp_build.planner.algorithms.core import call, numbers
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.timeline import Array, Timeline, are_powers_of_two, most_together

_MOST_WORK = 1 << 60
_MOST_BUFFERS = 1 << 30


class TimelinePlan(NamedTuple):
    """Places for the buffers of a timeline; in bytes."""

    offsets: Array
    peak: int
    work: int
    """Visits: buffers visited by first fit, and nodes of the search times the visits of each."""


def plan_timeline(timeline: Timeline, work: int | None = None) -> TimelinePlan:
    """Return the plan with the lowest peak found.

    `work`, in visits, bounds the repair of the first plan, and half of it that of the last.  First fit may visit more
    buffers, up to a limit for each that it places, in each of three orders.

    Raises ValueError when `work` is negative or too large, or there are 2^30 buffers.
    """
    if work is None:
        work = min(effort.TIMELINE_WORK, effort.TIMELINE_WORK_EACH * len(timeline))
    if not 0 <= work < _MOST_WORK:
        raise ValueError(f"work has to be at least 0 and less than {_MOST_WORK}, not {work}")
    if len(timeline) >= _MOST_BUFFERS:
        raise ValueError(f"there have to be fewer than {_MOST_BUFFERS} buffers")
    columns = (timeline.lower, timeline.upper, timeline.size, timeline.alignment)
    visits, offsets = numbers([work]), np.zeros(len(timeline), np.int64)
    call("plan_timeline", len(timeline), *map(np.ascontiguousarray, columns), visits, offsets)
    return TimelinePlan(offsets, timeline.peak(offsets), visits[0])


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
