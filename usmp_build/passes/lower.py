"""States the memory problem that algorithms solve: buffers, pools, conflicts, separations and costs, without a graph.

Sizes of constants are rounded up to the widest element among them: then constants fit together in any order without
gaps, and every C compiler lays out the structs that hold them in the same way.  Those of other buffers are rounded up
to full cache lines, where the manifest gives their pools any.
"""

from __future__ import annotations

from collections.abc import Sequence

from usmp_build.ir.costs import Costs
from usmp_build.ir.lifetimes import Lifetimes
from usmp_build.ir.separations import Separations
from usmp_build.ir.storage import Kind, Storage
from usmp_build.planner.memory.alive import conflicts
from usmp_build.planner.memory.clique import Others
from usmp_build.planner.memory.problem import Buffer, Pool, Problem
from usmp_build.request import Request
from usmp_build.units import align_up


def lower(request: Request, storage: Storage, lifetimes: Lifetimes, costs: Costs, separations: Separations) -> Problem:
    """State the memory problem of the whole firmware."""
    unit = max([4, *(b.alignment for b in storage.buffers if b.kind is Kind.CONSTANT)])
    buffers = []
    for index, buffer in enumerate(storage.buffers):
        intervals = tuple((i.start, i.stop) for i in lifetimes.intervals[index])
        is_constant = buffer.kind is Kind.CONSTANT
        size = align_up(buffer.size + buffer.tail, unit) if is_constant else buffer.extent
        alignment = unit if is_constant else buffer.alignment
        buffers.append(Buffer(buffer.name, size, buffer.pools, costs.values[index], alignment, intervals))
    pools = tuple(Pool(pool.name, pool.limit) for pool in request.pools)
    return Problem(pools, tuple(buffers), _conflicts(request, storage, lifetimes), separations.bytes())


def _conflicts(request: Request, storage: Storage, lifetimes: Lifetimes) -> tuple[Sequence[int], ...]:
    """Return for each buffer the indices of those that it conflicts with, ascending.

    Two buffers conflict if both are alive at some step.  If two models may run at the same time, any step of one may
    coincide with any step of the other, so every buffer of one conflicts with every buffer of the other.  Concurrency
    is not transitive: two models that may each run beside a third one, but not beside each other, share memory.
    """
    # Constants are always alive, all of them, and no pool takes both: there may be thousands.
    is_planned = [buffer.kind is not Kind.CONSTANT for buffer in storage.buffers]
    lives = [each if planned else () for each, planned in zip(lifetimes.intervals, is_planned, strict=True)]
    neighbors = list(map(set, conflicts(lives)))
    used: list[list[int]] = [[] for _ in request.models]
    for index, buffer in enumerate(storage.buffers):
        if is_planned[index]:
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
