"""A plan for a timeline, in Python; core/large.cpp is the same in C++."""

from __future__ import annotations

import numpy as np

from usmp_build.planner.algorithms.large.first_fit import FirstFit, Order
from usmp_build.planner.algorithms.large.repair import Repair
from usmp_build.planner.algorithms.large.sections import Sections, make_sections
from usmp_build.planner.memory.timeline import Array, Timeline

_VISITS_EACH = 2048
"""How many buffers first fit may look at for each that it places, beyond the work that is allowed."""
_FINE = 1024
"""Within this part of the greatest load, one order is enough."""


def plan(timeline: Timeline, work: int) -> tuple[Array, int]:
    """Return offsets, and the work that was done."""
    offsets = np.zeros(len(timeline), np.int64)
    order = _in_order(timeline)
    if not len(order):
        return offsets, 0
    unit = int(timeline.alignment.min())
    sizes = -(-timeline.size[order] // unit) * unit
    sections = make_sections(timeline.lower[order], timeline.upper[order], sizes, timeline.alignment[order])
    offsets[order], done = _best(sections, work)
    return offsets, done


def _best(sections: Sections, work: int) -> tuple[list[int], int]:
    """Return the lowest of the plans in several orders, and the work that was done."""
    best: list[int] = []
    done, peak, bound = 0, 0, max(sections.loads)
    # Large buffers first leave a tight plan, in which windows have too little room for a repair.
    for order, share in ((Order.LOAD, work), (Order.SIZE, 0), (Order.LENGTH, work // 2)):
        first_fit = FirstFit(sections, order)
        first_fit.place_all(share + _VISITS_EACH * len(sections.sizes))
        Repair(sections, first_fit, share).run()
        done += first_fit.work
        if not best or first_fit.peak() < peak:
            best, peak = first_fit.offsets, first_fit.peak()
        if peak - bound <= bound // _FINE:
            break
    return best, done


def _in_order(timeline: Timeline) -> Array:
    """Return the buffers that have bytes, in the order of their births.

    What else makes them differ comes next, so that the result is the same in whichever order they come.
    """
    order = np.lexsort((timeline.alignment, timeline.size, timeline.upper, timeline.lower))
    some: Array = order[timeline.size[order] > 0]
    return some
