"""Finds all tensors that hold the values of a tensor: itself and its copies.

An output that is computed in memory of pages is copied to plain memory, and the copy has its number in the model file;
an input is filled in plain memory, and copied to where it is read.  Axis separators apply to the values.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TypeVar

from usmp_build.ir.graph import Subgraph
from usmp_build.ir.scopes import COPY

_Rule = TypeVar("_Rule")


def homes(graph: Subgraph) -> Mapping[int, tuple[int, ...]]:
    """Return for each copied tensor and each copy all tensors that hold its values, the original first."""
    origins: dict[int, int] = {}
    values: dict[int, tuple[int, ...]] = {}
    for op in graph.operators:
        source = op.inputs[0] if op.kind == COPY else None
        if source is not None:
            origin = origins.setdefault(op.outputs[0], origins.get(source, source))
            values[origin] = (*values.get(origin, (origin,)), op.outputs[0])
    return {tensor: tensors for tensors in values.values() for tensor in tensors}


def home(tensor: int, values: Mapping[int, tuple[int, ...]], paged: Container[int]) -> int | None:
    """Return the tensor that separators of `tensor` apply to: the first home of its values in memory of pages."""
    return next((each for each in (tensor, *values.get(tensor, ())) if each in paged), None)


def at_home(graph: Subgraph, rules: Mapping[int, _Rule], paged: Container[int]) -> dict[int, _Rule]:
    """Return tensor in memory of pages → the rule that applies to it."""
    values = homes(graph)
    rules_at_home: dict[int, _Rule] = {}
    for tensor, rule in rules.items():
        place = home(tensor, values, paged)
        if place is not None:
            rules_at_home.setdefault(place, rule)
    return rules_at_home
