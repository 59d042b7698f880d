"""Finds the pairs of buffers that are alive at the same time, and so may not overlap.

Two buffers conflict if both are alive at some step.  If two models may run at the same time, any step of one may
coincide with any step of the other, so every buffer of one conflicts with every buffer of the other.  Concurrency is
not transitive: two models that may each run beside a third one, but not beside each other, share memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from usmp_build.ir.lifetimes import Lifetimes
from usmp_build.ir.storage import Kind, Storage
from usmp_build.planner.memory.clique import Others
from usmp_build.request import Request


def conflicts(request: Request, storage: Storage, lifetimes: Lifetimes) -> tuple[Sequence[int], ...]:
    """Return for each buffer the indices of those that it conflicts with, ascending."""
    neighbors = _alive_together(storage, lifetimes)
    used: list[list[int]] = [[] for _ in request.models]
    for index, buffer in enumerate(storage.buffers):
        if buffer.kind is not Kind.CONSTANT:
            for model in buffer.models:
                used[model].append(index)
    for one, other in request.concurrent:
        for a in used[one]:
            for b in used[other]:
                if a != b:
                    neighbors[a].add(b)
                    neighbors[b].add(a)
    constants = tuple(storage.constants)
    others = {index: Others(constants, index) for index in constants}
    return tuple(others.get(index) or tuple(sorted(each)) for index, each in enumerate(neighbors))


def _alive_together(storage: Storage, lifetimes: Lifetimes) -> list[set[int]]:
    """Sweep the timeline for buffers of the workspace that are alive together.

    Constants are always alive, all of them, and no pool takes both: there may be thousands.
    """
    starts: dict[int, list[int]] = {}
    stops: dict[int, list[int]] = {}
    for index, intervals in enumerate(lifetimes.intervals):
        for interval in intervals if storage.buffers[index].kind is not Kind.CONSTANT else ():
            starts.setdefault(interval.start, []).append(index)
            stops.setdefault(interval.stop, []).append(index)
    alive: set[int] = set()
    neighbors: list[set[int]] = [set() for _ in storage.buffers]
    for moment in sorted(starts.keys() | stops.keys()):
        for index in stops.get(moment, ()):
            alive.remove(index)
        for index in starts.get(moment, ()):
            for other in alive:
                neighbors[index].add(other)
                neighbors[other].add(index)
            alive.add(index)
    return neighbors
