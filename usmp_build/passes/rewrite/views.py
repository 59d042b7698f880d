"""RESHAPE, SQUEEZE and EXPAND_DIMS become views: the same bytes under another shape, so nothing runs.

    %7 = RESHAPE(%5, %6)    →    %7 = VIEW(%5)

A view shares its source's buffer.  That is refused, and the operator stays a copy, where sharing would be seen:

- from an input of the subgraph to an output: the caller may have given an array for each;
- from a variable, which may change while the view is alive;
- to an output that another output already shares its bytes with.
"""

from __future__ import annotations

from dataclasses import replace

from usmp_build.ir.graph import Model, Operator, Subgraph

_SHAPES_ONLY = {"RESHAPE", "SQUEEZE", "EXPAND_DIMS"}


def views(model: Model) -> Model:
    """Turn operators that only change a shape into views."""
    return replace(model, subgraphs=tuple(map(_in_subgraph, model.subgraphs)))


def _in_subgraph(graph: Subgraph) -> Subgraph:
    origin: dict[int, int] = {}
    shown = set(graph.outputs)  # origins whose bytes an output shows
    operators = []
    for op in graph.operators:
        source = op.inputs[0] if op.inputs else None
        if op.kind in _SHAPES_ONLY and source is not None and _may_share(graph, op, source, origin, shown):
            root = origin.get(source, source)
            origin[op.outputs[0]] = root
            if op.outputs[0] in graph.outputs:
                shown.add(root)
            op = replace(op, kind="VIEW", inputs=(source,), options=None)
        operators.append(op)
    return replace(graph, operators=tuple(operators))


def _may_share(graph: Subgraph, op: Operator, source: int, origin: dict[int, int], shown: set[int]) -> bool:
    root = origin.get(source, source)
    if len(op.outputs) != 1 or graph.tensors[root].is_variable or graph.tensors[root].is_constant:
        return False
    if graph.tensors[source].size != graph.tensors[op.outputs[0]].size:
        return False
    pinned = root in graph.inputs or root in shown
    return not (op.outputs[0] in graph.outputs and pinned)
