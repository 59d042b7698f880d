"""One model out of the whole problem, in the same pools: what would it need by itself?"""

from __future__ import annotations

from usmp_build.ir.storage import Kind, Storage
from usmp_build.memory.plan import Plan
from usmp_build.memory.problem import Problem


def alone(storage: Storage, problem: Problem, plan: Plan, model: int) -> tuple[Problem, Plan]:
    """Keep the workspace buffers of `model`, the conflicts between them, and their places in a plan of all models."""
    kept = [i for i, b in enumerate(storage.buffers) if b.kind is not Kind.CONSTANT and model in b.models]
    position = {old: new for new, old in enumerate(kept)}
    buffers = tuple(problem.buffers[i] for i in kept)
    conflicts = tuple(tuple(position[other] for other in problem.conflicts[i] if other in position) for i in kept)
    separations = {
        (position[a], position[b]): distance
        for (a, b), distance in problem.separations.items()
        if a in position and b in position
    }
    places = tuple(plan.allocations[i] for i in kept)
    return Problem(problem.pools, buffers, conflicts, separations), Plan(plan.algorithm, places)
