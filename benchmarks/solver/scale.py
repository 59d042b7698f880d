"""How planning time grows with the number of buffers, from ten thousand to a million.

Instances are drawn at random: a birth at each step, log-normal lifetimes so that about 60 buffers are alive at once,
sizes from 64 bytes to 1 MiB, of which each power of two is as likely, and an alignment of 64 bytes.  Each is planned in
a process of its own, which tells how much memory that takes.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from dataclasses import dataclass

import numpy as np

from usmp_build.planner.algorithms.timelines import plan_timeline
from usmp_build.planner.library import fullest
from usmp_build.planner.memory.overlaps import overlaps
from usmp_build.planner.memory.timeline import Timeline

ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class Run:
    """What planning one instance took."""

    count: int
    seed: int
    load: int
    """What no plan can do without."""
    peak: int
    work: int
    seconds: float
    """Of one processor."""
    memory: int
    """Bytes, at the most, with Python and the instance."""

    @property
    def gap(self) -> float:
        """Percent of the load."""
        return 100 * (self.peak - self.load) / self.load

    @property
    def at_load(self) -> bool:
        """Whether no plan is lower, but for less than the alignment."""
        return self.peak - self.load < ALIGNMENT


def measure(count: int, seed: int) -> Run:
    """Plan one instance in a process of its own, and check the plan."""
    with multiprocessing.get_context("spawn").Pool(1) as apart:
        return apart.apply(_measure, (count, seed))


def _measure(count: int, seed: int) -> Run:
    stated = instance(count, seed)
    begun = time.process_time()
    found = plan_timeline(stated)
    seconds = time.process_time() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert next(overlaps(stated.lower, stated.upper, found.offsets, stated.size), None) is None
    assert not (found.offsets % stated.alignment).any()
    return Run(count, seed, fullest(stated).bytes, found.peak, found.work, seconds, memory)


def instance(count: int, seed: int) -> Timeline:
    """Draw an instance; the same seed gives the same."""
    chance = np.random.default_rng(seed)
    lower = np.arange(count)
    upper = lower + 1 + chance.lognormal(3.6, 1.0, count).astype(np.int64)
    size = (2 ** chance.uniform(6, 20, count)).astype(np.int64)
    return Timeline(lower, upper, size, np.full(count, ALIGNMENT))
