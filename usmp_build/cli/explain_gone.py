"""`explain`: tensors of the model's file that have no buffer, by the names that they would have."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import Model, TensorRef, tensor_at
from usmp_build.ir.labels import short_label


def without_buffer(analysis: Analysis, imported: tuple[Model, ...], name: str) -> list[str]:
    """Return a line for each tensor of this name that has no buffer: where it is, or which rewrite removed it."""
    return [f"{name}: {why}" for ref, why in _reasons(analysis) if _name(imported, ref) == name]


def _reasons(analysis: Analysis) -> Iterator[tuple[TensorRef, str]]:
    for ref in analysis.storage.arguments:
        yield ref, "in the caller's array, no pool holds it"
    for index, rewritten in enumerate(analysis.rewrites):
        for (subgraph, tensor), rewrite in rewritten.removed.items():
            yield TensorRef(index, subgraph, tensor), f"gone, the rewrite {rewrite} removed it"
        for tensor, declared in enumerate(analysis.models[index].main.tensors):
            ref = TensorRef(index, 0, tensor)
            if declared.is_constant and ref not in analysis.storage.tensors and (0, tensor) not in rewritten.removed:
                yield ref, "a constant that no kernel reads from memory"


def _name(models: tuple[Model, ...], ref: TensorRef) -> str:
    if ref.tensor >= len(models[ref.model].subgraphs[ref.subgraph].tensors):
        return ""
    return f"{models[ref.model].name}.{short_label(tensor_at(models, ref).name, ref.tensor)}"
