"""The step of a timeline at which most bytes are alive: no plan needs less."""

from __future__ import annotations

import numpy as np

from usmp_build import effort
from usmp_build.planner.memory.pressure import Witness
from usmp_build.planner.memory.timeline import Array, Timeline


def fullest(timeline: Timeline) -> Witness:
    """Return the buffers alive at the fullest step, largest first, and the bytes that they need side by side.

    All buffers start at multiples of a unit, so all but the topmost fill whole units: sizes are rounded up, and the
    largest remainder is given back.  Of steps that are as full, the one with the least remainder says most.
    """
    if not len(timeline):
        return Witness()
    unit = int(np.gcd.reduce(timeline.alignment))
    rounded = -(-timeline.size // unit) * unit
    steps = np.concatenate((timeline.upper, timeline.lower))
    order = np.argsort(steps, kind="stable")  # deaths stand before births
    load = np.cumsum(np.concatenate((-rounded, rounded))[order])
    fullest_ones = np.unique(steps[order[load == load.max()]])[: effort.FULLEST_STEPS].tolist()
    return max((_witness(timeline, rounded, step) for step in fullest_ones), key=lambda witness: witness.bytes)


def _witness(timeline: Timeline, rounded: Array, step: int) -> Witness:
    alive = np.flatnonzero((timeline.lower <= step) & (step < timeline.upper) & (timeline.size > 0))
    slack = int((rounded[alive] - timeline.size[alive]).max(initial=0))
    largest_first = alive[np.argsort(-timeline.size[alive], kind="stable")]
    return Witness(int(rounded[alive].sum()) - slack, tuple(largest_first.tolist()), step)
