"""Plan → Plan: constants of one model side by side.

All constants of a pool are alive for ever and their sizes are whole units, so any order takes the same bytes.  By
owner is the order that keeps generated files still: a model that grows moves nothing in the files of another.
"""

from __future__ import annotations

from dataclasses import replace

from usmp_build.ir.storage import Storage, StorageBuffer
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Problem


def group_constants(storage: Storage, problem: Problem, plan: Plan) -> Plan:
    """Reorder every constant pool by (owner, name), behind its seal; which pool a constant is in stays as planned."""
    places = list(plan.allocations)
    constants = storage.constants
    ends: dict[int, int] = {}
    seals = set(storage.seals.values())
    for index in sorted(constants, key=lambda i: (i not in seals, owner(storage.buffers[i]), storage.buffers[i].name)):
        pool = places[index].pool
        places[index] = Allocation(pool, ends.get(pool, 0))
        ends[pool] = ends.get(pool, 0) + problem.buffers[index].size
    return replace(plan, allocations=tuple(places))


def owner(buffer: StorageBuffer) -> tuple[int, ...]:
    """Return the only model that reads a constant; nothing when several do, whichever they are."""
    return buffer.models if len(buffer.models) == 1 else ()
