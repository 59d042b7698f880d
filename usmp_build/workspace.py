"""Bytes of workspace that buffers need, as well as we know: in the plan that there is, or in a better one of "auto"."""

from __future__ import annotations

from usmp_build import plugins
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.memory.parts import restricted
from usmp_build.memory.plan import Plan, peaks, quality


def workspace_needed(analysis: Analysis, plan: Plan, model: int | None = None) -> int:
    """Return the bytes of workspace of all models, or of one of them if it were the only one in these pools.

    `plan` may be that of another analysis, of the same buffers with more conflicts: what fits with those fits without.
    """
    kept = [
        index
        for index, buffer in enumerate(analysis.storage.buffers)
        if buffer.kind is not Kind.CONSTANT and (model is None or model in buffer.models)
    ]
    problem = restricted(analysis.problem, kept)
    same = Plan(plan.algorithm, tuple(plan.allocations[index] for index in kept))
    found = plugins.algorithm("auto", {}, "")(problem) or same
    return sum(peaks(problem, min((same, found), key=lambda each: quality(problem, each))))
