"""What the compilers of programs would allocate themselves, in words."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.layout import AlternativesRecord
from usmp_build.units import count_bytes, show_bytes


def compiler_plans(alternatives: AlternativesRecord) -> Iterator[str]:
    """Yield a sentence for each model whose compiler has a plan of its plan."""
    for model in alternatives.models:
        if plan := model.compiler_plan:
            total = count_bytes(plan.tensors + plan.functions)
            parts = f"{show_bytes(plan.tensors)} for tensors, {show_bytes(plan.functions)} for buffers of functions"
            here = f"here it takes {show_bytes(model.workspace)} alone"
            yield f"{model.name}: {plan.compiler} would plan {total} beside inputs and outputs ({parts}); {here}"
