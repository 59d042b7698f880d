"""What a plan would save if its pools were larger."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.interfaces.analysis import Analysis
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.limits import cheaper_elsewhere
from usmp_build.planner.memory.plan import Plan
from usmp_build.search.limits import Fitted, choose_without_limits
from usmp_build.search.replanner import Replanner


@dataclass(frozen=True, slots=True)
class InLargerPools:
    """A plan of the same request in pools as large as needed, with every buffer where it costs least."""

    analysis: Analysis
    plan: Plan
    algorithm: str
    """That made it, and makes one that costs as little within limits of its sizes."""


def in_larger_pools(replanner: Replanner, fitted: Fitted) -> InLargerPools | None:
    """Return a plan with every buffer where it costs least, by the request's algorithm or "auto".

    None where all of them are there within the limits, or neither has such a plan.
    """
    plan = fitted.chosen.plan
    if plan is None or not cheaper_elsewhere(fitted.chosen.analysis.problem, plan):
        return None
    request = replanner.request
    replanners = {request.algorithm: replanner}
    replanners.setdefault("auto", replanner.by(Auto()))
    for name, other in replanners.items():
        reused = fitted.unlimited if name == request.algorithm else None
        chosen = reused or choose_without_limits(other, range(len(request.pools)))
        if chosen and chosen.plan and not cheaper_elsewhere(chosen.analysis.problem, chosen.plan):
            return InLargerPools(chosen.analysis, chosen.plan, name)
    return None
