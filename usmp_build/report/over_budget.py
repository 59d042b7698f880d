"""What takes more than its budget: a line that the manifest draws below the limits, to be warned before these."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.layout import AlternativesRecord, PlanRecord
from usmp_build.units import count_bytes, show_bytes


def over_budget(plan: PlanRecord, alternatives: AlternativesRecord | None) -> Iterator[str]:
    """Yield a sentence for each pool over its budget, and for each model, where what models need alone is given."""
    for pool in plan.pools:
        if pool.budget is not None and pool.size > pool.budget:
            yield f"pool {pool.name} is {_excess(pool.size, pool.budget)}"
    if alternatives is None:
        return
    for model, alone in zip(plan.models, alternatives.models, strict=True):
        if model.budget is not None and alone.workspace > model.budget:
            yield f"model {model.name} alone is {_excess(alone.workspace, model.budget)}"


def _excess(size: int, budget: int) -> str:
    return f"{count_bytes(size - budget)} over its budget of {show_bytes(budget)}"
