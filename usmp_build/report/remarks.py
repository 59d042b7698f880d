"""What a plan exceeds, and what compilers of programs would allocate themselves, in sentences."""

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


def compiler_plans(alternatives: AlternativesRecord) -> Iterator[str]:
    """Yield a sentence for each model whose compiler has a plan of its plan."""
    for model in alternatives.models:
        if plan := model.compiler_plan:
            total = count_bytes(plan.tensors + plan.functions)
            parts = f"{show_bytes(plan.tensors)} for tensors, {show_bytes(plan.functions)} for buffers of functions"
            here = f"here it takes {show_bytes(model.workspace)} alone"
            yield f"{model.name}: {plan.compiler} would plan {total} beside inputs and outputs ({parts}); {here}"
