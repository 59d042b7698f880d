"""Verifies the plans of the requested algorithm, and puts the best one into its final form.

Reorders the constants of a plan, so that those of one model are side by side.

All constants of a pool are always alive and their sizes are multiples of one unit, so any order takes the same bytes.
Order by model keeps generated files stable: a model that grows moves nothing in the files of another one.
"""

from __future__ import annotations

from dataclasses import replace

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Storage
from usmp_build.planner import by_name
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.request import Request


def check(request: Request, analysis: Analysis, plan: Plan) -> None:
    """Raise CheckFailed if a plan of the requested algorithm is wrong."""
    by_name.check(analysis.problem, plan, request.algorithm, request.plan_span)


def finalize(request: Request, analysis: Analysis, plan: Plan) -> Plan:
    """Check the best plan again, with its constants in the order of the files that hold them."""
    check(request, analysis, plan)
    grouped = group_constants(analysis.storage, analysis.problem, plan)
    check(request, analysis, grouped)
    return grouped


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
