"""Plans for very many buffers in one pool: first fit by load, then repair of the spots that are too high.

    offset ^        what ends above the greatest load, "x", is cut out with its neighborhood, and searched again
           |   _______                   _______
    load --|--|---x---|-----------------|---x---|-----
           |  |_______|    ______       |_______|
           |    |core|    |______|       |core|
           +-+-------------------------------------> step

First fit visits each buffer a few dozen times, and is seldom more than a few percent above the load.  Where it is, a
few hundred buffers matter, and the exact search places those: so effort grows with the number of buffers, not with
that of their pairs.  If the peak stays well above the load, further orders are tried, and the lowest plan is kept.
All work is counted, so that the result is the same on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from usmp_build import effort
from usmp_build.planner.algorithms.core import core
from usmp_build.planner.memory.timeline import Array, Timeline

_MOST_WORK = 1 << 60


class TimelinePlan(NamedTuple):
    """Places for the buffers of a timeline; in bytes."""

    offsets: Array
    peak: int
    work: int
    """Visits: buffers visited by first fit, and nodes of the search times the visits of each."""


def plan_timeline(timeline: Timeline, work: int | None = None) -> TimelinePlan:
    """Return the plan with the lowest peak found.

    `work`, in visits, bounds the repair of the first plan, and half of it that of the last.  First fit may visit more
    buffers, up to a limit for each that it places, in each of three orders.  The compiled core plans where it is
    installed, otherwise Python: the result is the same.

    Raises ValueError when `work` is negative or too large.
    """
    if work is None:
        work = min(effort.TIMELINE_WORK, effort.TIMELINE_WORK_EACH * len(timeline))
    if not 0 <= work < _MOST_WORK:
        raise ValueError(f"work has to be at least 0 and less than {_MOST_WORK}, not {work}")
    module = core()
    if module is None:
        from usmp_build.planner.algorithms.large import plan  # only now: the core does without it

        offsets, visits = plan.plan(timeline, work)
    else:
        arrays = (timeline.lower, timeline.upper, timeline.size, timeline.alignment)
        offsets, visits = module.plan_timeline(*map(np.ascontiguousarray, arrays), work)
    return TimelinePlan(offsets, timeline.peak(offsets), visits)
