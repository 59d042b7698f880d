"""Plans a timeline in Python; core/large.cpp is the same in C++."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from usmp_build.planner.algorithms.large.first_fit import FirstFit, Order
from usmp_build.planner.algorithms.large.repair import Repair
from usmp_build.planner.algorithms.large.sections import Sections, make_sections
from usmp_build.planner.memory.timeline import Array, Timeline

_VISITS_EACH = 2048
"""Visits allowed to first fit for each buffer that it places, beyond the given work."""
_FINE = 1024
"""One order is enough if its peak exceeds the greatest load by no more than 1 / `_FINE` of it."""


def plan(timeline: Timeline, work: int) -> tuple[Array, int]:
    """Return offsets, shape (buffers,), in bytes, and the work done, in visits."""
    offsets = np.zeros(len(timeline), np.int64)
    order = _in_order(timeline)
    if not len(order):
        return offsets, 0
    unit = int(timeline.alignment.min())
    sizes = -(-timeline.size[order] // unit) * unit
    sections = make_sections(timeline.lower[order], timeline.upper[order], sizes, timeline.alignment[order])
    offsets[order], visits = _best(sections, work)
    return offsets, visits


def _best(sections: Sections, work: int) -> tuple[list[int], int]:
    """Return the plan with the lowest peak of several orders, and the work done."""
    best: list[int] = []
    visits, peak, bound = 0, 0, max(sections.loads)
    for candidate in _plans(sections, work):
        visits += candidate.work
        if not best or candidate.peak() < peak:
            best, peak = candidate.offsets, candidate.peak()
        if peak - bound <= bound // _FINE:
            break
    return best, visits


def _plans(sections: Sections, work: int) -> Iterator[FirstFit]:
    """Yield plans, each made only if those before it will not do."""
    yield _fitted(sections, Order.LOAD, work)
    for by_area in (False, True):
        stack = FirstFit(sections, Order.LOAD)
        stack.stack_all(by_area, work // 2)
        yield stack
    yield _fitted(sections, Order.SIZE, 0)  # it leaves a tight plan, in which windows have too little room for a repair
    yield _fitted(sections, Order.LENGTH, work // 2)


def _fitted(sections: Sections, order: Order, share: int) -> FirstFit:
    """Return a plan by first fit, repaired with a share of the work."""
    first_fit = FirstFit(sections, order)
    first_fit.place_all(share + _VISITS_EACH * len(sections.sizes))
    Repair(sections, first_fit, share).run()
    return first_fit


def _in_order(timeline: Timeline) -> Array:
    """Return the buffers that are not empty, in the order of their births.

    Their other fields break ties, so that the result does not depend on the order of the input.
    """
    order = np.lexsort((timeline.alignment, timeline.size, timeline.upper, timeline.lower))
    non_empty: Array = order[timeline.size[order] > 0]
    return non_empty
