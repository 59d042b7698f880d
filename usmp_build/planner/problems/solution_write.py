"""Writes solutions as JSON: a line for each pool, and one for each buffer."""

from __future__ import annotations

import usmp_build
from usmp_build.document.json_lines import json_lines
from usmp_build.planner.memory.pressure import Witness
from usmp_build.planner.memory.solution import Solution
from usmp_build.planner.problems.statement import Statement


def solution_json(statement: Statement, solution: Solution, capacity: int | None = None) -> str:
    """Write a solution; `capacity` is the limit, in bytes, that pools without one were given."""
    plan = solution.plan
    limits = [capacity if pool.limit is None else pool.limit for pool in statement.pools]
    document: dict[str, object] = {
        "version": 1,
        "generator": f"usmp_build {usmp_build.__version__}",
        "status": solution.status.value,
        "algorithm": solution.algorithm,
        "work": solution.work,
        "capacity": capacity,
        "shortage": _shortage(statement, solution) if plan is None else None,
        "pools": [_pool(statement, solution, index, limit) for index, limit in enumerate(limits)] if plan else [],
        "buffers": [
            {"name": name, "pool": statement.pools[place.pool].name, "offset": place.offset}
            for name, place in zip(statement.names, plan.allocations if plan else (), strict=plan is not None)
        ],
    }
    return json_lines(document)


def _pool(statement: Statement, solution: Solution, index: int, limit: int | None) -> dict[str, object]:
    claim = solution.claims[index]
    witness = solution.witnesses[index]
    return {
        "name": statement.pools[index].name,
        "limit": limit,
        "peak": solution.peaks[index],
        "bound": solution.bounds[index],
        "witness": _witness(statement, witness),
        "claim": _claim(solution, claim) if claim > witness.bytes else None,
    }


def _shortage(statement: Statement, solution: Solution) -> dict[str, object] | None:
    shortage = solution.shortage
    if not shortage.pools and not shortage.proven:
        return None
    return {
        "pools": [statement.pools[index].name for index in shortage.pools],
        "room": shortage.room,
        "missing": shortage.missing,
        "proven": shortage.proven,
        "witness": _witness(statement, shortage.witness),
        "claim": _claim(solution, solution.claim) if solution.claim or not shortage.pools else None,
    }


def _witness(statement: Statement, witness: Witness) -> dict[str, object]:
    return {
        "bytes": witness.bytes,
        "step": witness.step,
        "buffers": [statement.names[index] for index in witness.buffers],
    }


def _claim(solution: Solution, bytes_: int) -> dict[str, object]:
    return {"bytes": bytes_, "algorithm": solution.algorithm, "work": solution.work}
