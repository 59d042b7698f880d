"""One model out of the whole problem, in one pool without a limit: what would it need by itself?"""

from __future__ import annotations

from dataclasses import replace

from usmp_build.ir.storage import Kind, Storage
from usmp_build.memory.problem import Pool, Problem


def alone(storage: Storage, problem: Problem, model: int) -> Problem:
    """Keep the workspace buffers of `model` and the conflicts between them."""
    kept = [i for i, b in enumerate(storage.buffers) if b.kind is not Kind.CONSTANT and model in b.models]
    position = {old: new for new, old in enumerate(kept)}
    buffers = tuple(replace(problem.buffers[i], pools=(0,), costs=()) for i in kept)
    conflicts = tuple(tuple(position[other] for other in problem.conflicts[i] if other in position) for i in kept)
    separations = {
        (position[a], position[b]): distance
        for (a, b), distance in problem.separations.items()
        if a in position and b in position
    }
    return Problem((Pool("alone"),), buffers, conflicts, separations)
