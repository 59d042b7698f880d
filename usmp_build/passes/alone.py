"""One model out of the whole problem, in the same pools: what would it need by itself?"""

from __future__ import annotations

from usmp_build.ir.storage import Kind, Storage
from usmp_build.memory.parts import restricted
from usmp_build.memory.plan import Plan
from usmp_build.memory.problem import Problem


def alone(storage: Storage, problem: Problem, plan: Plan, model: int) -> tuple[Problem, Plan]:
    """Keep the workspace buffers of `model`, the conflicts between them, and their places in a plan of all models."""
    kept = [i for i, b in enumerate(storage.buffers) if b.kind is not Kind.CONSTANT and model in b.models]
    return restricted(problem, kept), Plan(plan.algorithm, tuple(plan.allocations[i] for i in kept))
