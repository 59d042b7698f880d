"""Lifetimes + concurrency → the pairs of buffers that may not overlap.

Two buffers conflict that are alive at one step.  Of models that may run at the same time, any step of one may meet any
step of the other, so all that the one uses conflicts with all that the other uses.  That is said of pairs of models and
goes no further: two models that may both meet a third one, but not each other, share memory.
"""

from __future__ import annotations

from usmp_build.ir.lifetimes import Lifetimes
from usmp_build.ir.storage import Kind, Storage
from usmp_build.request import Request


def conflicts(request: Request, storage: Storage, lifetimes: Lifetimes) -> tuple[tuple[int, ...], ...]:
    """Return for each buffer those that it conflicts with, ascending."""
    found = _alive_together(storage, lifetimes)
    used: list[list[int]] = [[] for _ in request.models]
    for index, buffer in enumerate(storage.buffers):
        if buffer.kind is not Kind.CONSTANT:
            for model in buffer.models:
                used[model].append(index)
    for one, other in request.concurrent:
        for a in used[one]:
            for b in used[other]:
                if a != b:
                    found[a].add(b)
                    found[b].add(a)
    return tuple(tuple(sorted(others)) for others in found)


def _alive_together(storage: Storage, lifetimes: Lifetimes) -> list[set[int]]:
    """Sweep the timeline; a workspace buffer and a constant never meet, for no pool takes both."""
    starts: dict[int, list[int]] = {}
    stops: dict[int, list[int]] = {}
    for index, intervals in enumerate(lifetimes.intervals):
        for interval in intervals:
            starts.setdefault(interval.start, []).append(index)
            stops.setdefault(interval.stop, []).append(index)
    constant = [buffer.kind is Kind.CONSTANT for buffer in storage.buffers]
    alive: tuple[set[int], set[int]] = (set(), set())
    found: list[set[int]] = [set() for _ in storage.buffers]
    for moment in sorted(starts.keys() | stops.keys()):
        for index in stops.get(moment, ()):
            alive[constant[index]].remove(index)
        for index in starts.get(moment, ()):
            for other in alive[constant[index]]:
                found[index].add(other)
                found[other].add(index)
            alive[constant[index]].add(index)
    return found
