"""What the compilers of programs would allocate themselves, in words."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.layout import AlternativesRecord
from usmp_build.units import count_bytes, show_bytes


def own_plans(alternatives: AlternativesRecord) -> Iterator[str]:
    """Yield a sentence for each model whose compiler has a plan of its own."""
    for model in alternatives.models:
        if own := model.own_plan:
            total = count_bytes(own.tensors + own.functions)
            parts = f"{show_bytes(own.tensors)} for tensors, {show_bytes(own.functions)} for buffers of functions"
            here = f"here it takes {show_bytes(model.workspace)} alone"
            yield f"{model.name}: {own.compiler} would plan {total} beside inputs and outputs ({parts}); {here}"
