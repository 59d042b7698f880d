"""Storage + Lifetimes + traffic + the pools of the request → Problem: no graph left.

Conflicts are the pairs of buffers that are alive at one step.  The cost of a buffer in a pool is its traffic in
one run of its model, and what the application fills and reads of it, times the pool's rank in the model's list: what
is used most goes into the pools preferred most.  Constants are counted in whole units of the widest element among
them: then they stand in any order without gaps, and every C compiler lays the structs that hold them out alike.
"""

from __future__ import annotations

from collections import Counter

from usmp_build.interfaces.analysis import OperatorTraffic
from usmp_build.ir.lifetimes import Lifetimes
from usmp_build.ir.schedule import Schedule, steps
from usmp_build.ir.storage import Kind, Storage
from usmp_build.memory.problem import Buffer, Pool, Problem
from usmp_build.request import Request
from usmp_build.units import align_up


def lower(
    request: Request, schedule: Schedule, storage: Storage, lifetimes: Lifetimes, traffic: OperatorTraffic
) -> Problem:
    """State the memory problem of the whole firmware."""
    moved = _bytes_moved(schedule, storage, traffic)
    unit = max([4, *(b.alignment for b in storage.buffers if b.kind is Kind.CONSTANT)])
    buffers = []
    for index, buffer in enumerate(storage.buffers):
        costs = tuple(rank * moved[index] for rank in range(len(buffer.pools)))
        intervals = tuple((i.start, i.stop) for i in lifetimes.intervals[index])
        constant = buffer.kind is Kind.CONSTANT
        size = align_up(buffer.size, unit) if constant else buffer.size
        alignment = unit if constant else buffer.alignment
        buffers.append(Buffer(buffer.name, size, buffer.pools, costs, alignment, intervals))
    pools = tuple(Pool(pool.name, pool.limit) for pool in request.pools)
    return Problem(pools, tuple(buffers), _conflicts(storage, lifetimes))


def _bytes_moved(schedule: Schedule, storage: Storage, traffic: OperatorTraffic) -> Counter[int]:
    """Bytes read and written per run, for each buffer.  A loop counts once: nobody knows how often it runs."""
    moved: Counter[int] = Counter()
    for step in steps(schedule.root):
        if step.operator is not None:
            moved.update({buffer: each.read + each.written for buffer, each in traffic[step.operator].items()})
            continue
        for tensor in step.tensors:  # what the application fills and reads, and statements
            if tensor in storage.tensors:
                for buffer in storage.span(storage.tensors[tensor]):
                    moved[buffer] += storage.buffers[buffer].size
    return moved


def _conflicts(storage: Storage, lifetimes: Lifetimes) -> tuple[tuple[int, ...], ...]:
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
    return tuple(tuple(sorted(others)) for others in found)
