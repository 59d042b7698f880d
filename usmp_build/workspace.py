"""Bytes of workspace that buffers need, as well as we know: in the plan that there is, or in a better one of "auto"."""

from __future__ import annotations

from usmp_build.algorithms.auto import Auto
from usmp_build.directing import Budget, direct, ways_of
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.memory.bounds import pressure
from usmp_build.memory.components import restricted
from usmp_build.memory.plan import Plan, peaks, quality
from usmp_build.request import Request

_PLANS = 8
"""So many small problems are solved to find directions for some of the buffers only."""


def workspace_needed(request: Request, analysis: Analysis, plan: Plan | None, model: int | None = None) -> int:
    """Return the bytes of workspace of all models, or of one of them if it were the only one in these pools.

    `plan` may be that of another analysis, of the same buffers with more conflicts: what fits with those fits without.
    Where buffers have several pools, "auto" is asked briefly: its whole work takes seconds there.
    Directions are free, as they are for the firmware.
    """
    kept = [index for index in _members(analysis) if model is None or model in analysis.storage.buffers[index].models]
    problem = restricted(analysis.problem, kept)
    auto = Auto()
    same = [Plan(plan.algorithm, tuple(plan.allocations[index] for index in kept))] if plan is not None else []
    several = any(len(buffer.pools) > 1 for buffer in problem.buffers)
    found = auto.brief(problem) if several else auto(problem)
    plans = [*same, *([found] if found else [])]
    best = min(plans, key=lambda each: quality(problem, each), default=None)
    rank = quality(problem, best) if best else None
    best = direct(ways_of(request, analysis, kept), Budget(auto.brief, _PLANS), rank, best).plan or best
    return sum(peaks(problem, best)) if best else 0


def max_live(analysis: Analysis) -> int:
    """Return the bytes of workspace that are alive together, in whichever pools: of a request `as_filed`, max-live."""
    return pressure(analysis.problem, _members(analysis)).bytes


def _members(analysis: Analysis) -> list[int]:
    return [index for index, buffer in enumerate(analysis.storage.buffers) if buffer.kind is not Kind.CONSTANT]
