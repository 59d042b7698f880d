"""States the memory problem that algorithms solve: buffers, pools, conflicts, separations and costs, without a graph.

Sizes of constants are rounded up to the widest element among them: then constants fit together in any order without
gaps, and every C compiler lays out the structs that hold them in the same way.  Those of other buffers are rounded up
to full cache lines, where the manifest gives their pools any.
"""

from __future__ import annotations

from usmp_build.ir.costs import Costs
from usmp_build.ir.lifetimes import Lifetimes
from usmp_build.ir.separations import Separations
from usmp_build.ir.storage import Kind, Storage
from usmp_build.passes.lower.conflicts import conflicts
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
    return Problem(pools, tuple(buffers), conflicts(request, storage, lifetimes), separations.bytes())
