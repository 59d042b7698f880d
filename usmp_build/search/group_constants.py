"""Reorders the constants of a plan, so that those of one model are side by side.

All constants of a pool are always alive and their sizes are multiples of one unit, so any order takes the same bytes.
Order by model keeps generated files stable: a model that grows moves nothing in the files of another one.
"""

from __future__ import annotations

from dataclasses import replace

from usmp_build.ir.storage import Storage
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Problem


def group_constants(storage: Storage, problem: Problem, plan: Plan) -> Plan:
    """Reorder every constant pool: its seal, then by (only model, name).  No constant changes its pool."""
    allocations = list(plan.allocations)
    constants = storage.constants
    ends: dict[int, int] = {}
    seals = set(storage.seals.values())

    def rank(index: int) -> tuple[bool, tuple[int, ...], str]:
        buffer = storage.buffers[index]
        return index not in seals, buffer.only_model, buffer.name

    for index in sorted(constants, key=rank):
        pool = allocations[index].pool
        allocations[index] = Allocation(pool, ends.get(pool, 0))
        ends[pool] = ends.get(pool, 0) + problem.buffers[index].size
    return replace(plan, allocations=tuple(allocations))
