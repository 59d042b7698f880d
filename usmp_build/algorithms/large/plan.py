"""A plan for a timeline, in Python; core/large.cpp is the same in C++."""

from __future__ import annotations

import numpy as np

from usmp_build.algorithms.large.first_fit import FirstFit
from usmp_build.algorithms.large.repair import Repair
from usmp_build.algorithms.large.sections import make_sections
from usmp_build.memory.timeline import Array, Timeline

_VISITS_EACH = 2048
"""How many buffers first fit may look at for each that it places, beyond the work that is allowed."""


def plan(timeline: Timeline, work: int) -> tuple[Array, int]:
    """Return offsets, and the work that was done."""
    offsets = np.zeros(len(timeline), np.int64)
    order = _in_order(timeline)
    if not len(order):
        return offsets, 0
    unit = int(timeline.alignment.min())
    sizes = -(-timeline.size[order] // unit) * unit
    sections = make_sections(timeline.lower[order], timeline.upper[order], sizes, timeline.alignment[order])
    first_fit = FirstFit(sections)
    first_fit.place_all(work + _VISITS_EACH * len(order))
    Repair(sections, first_fit, work).run()
    offsets[order] = first_fit.offsets
    return offsets, first_fit.work


def _in_order(timeline: Timeline) -> Array:
    """Return the buffers that have bytes, in the order of their births.

    What else makes them differ comes next, so that the result is the same in whichever order they come.
    """
    order = np.lexsort((timeline.alignment, timeline.size, timeline.upper, timeline.lower))
    some: Array = order[timeline.size[order] > 0]
    return some
