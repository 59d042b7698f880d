"""Plans for very many buffers in one pool: first fit by load, then repair of the spots that are too high.

    offset ^        what ends above the greatest load, "x", is cut out with its neighborhood, and searched anew
           |   _______                   _______
    load --|--|---x---|-----------------|---x---|-----
           |  |_______|    ______       |_______|
           |    |core|    |______|       |core|
           +-+-------------------------------------> step

First fit looks at each buffer a few dozen times, and is seldom more than some percent above the load.  Where it is, few
hundred buffers matter, and the exact search finds places for those: so effort grows with the number of buffers, not
with that of their pairs.  What stays well above the load is planned in further orders, and the lowest plan is kept.
Everything is counted, so that the result is the same on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from usmp_build import effort
from usmp_build.planner.algorithms.core import core
from usmp_build.planner.algorithms.large import plan
from usmp_build.planner.memory.timeline import Array, Timeline

_MOST_WORK = 1 << 60


class TimelinePlan(NamedTuple):
    """Places for the buffers of a timeline; in bytes."""

    offsets: Array
    peak: int
    work: int
    """What was done: buffers that first fit looked at, and nodes of the search times what each looked at."""


def plan_timeline(timeline: Timeline, work: int | None = None) -> TimelinePlan:
    """Plan with as low a peak as is found; `work` bounds the repair of the first plan, and half of it that of the last.

    First fit may look at some more for each buffer, in each of three orders.

    By the compiled core where there is one, else in Python: the answer is the same.

    Raises ValueError when `work` is no bound.
    """
    if work is None:
        work = min(effort.TIMELINE_WORK, effort.TIMELINE_WORK_EACH * len(timeline))
    if not 0 <= work < _MOST_WORK:
        raise ValueError(f"work has to be at least 0 and less than {_MOST_WORK}, not {work}")
    module = core()
    if module is None:
        offsets, done = plan.plan(timeline, work)
    else:
        arrays = (timeline.lower, timeline.upper, timeline.size, timeline.alignment)
        offsets, done = module.plan_timeline(*map(np.ascontiguousarray, arrays), work)
    return TimelinePlan(offsets, timeline.peak(offsets), done)
