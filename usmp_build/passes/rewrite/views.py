"""Turns RESHAPE, SQUEEZE and EXPAND_DIMS into views: the same bytes under another shape, so nothing runs.

    %7 = RESHAPE(%5, %6)    →    %7 = VIEW(%5)

A view shares its source's buffer.  The operator remains a copy where sharing could be observed:

- from an input of the subgraph to an output: the caller may have given an array for each;
- from a variable, which may change while the view is alive;
- to an output, if another output already shares the bytes;
- between tensors that are pinned to different pools;
- where the operator is placed by name, or on another target than the one that writes its input.
"""

from __future__ import annotations

from dataclasses import replace

from usmp_build.ir.graph import Model, Operator, Subgraph
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.pins import NO_PINS, Pins


def views(model: Model, pins: Pins = NO_PINS) -> Model:
    """Turn operators that only change a shape into views."""
    subgraphs = (_in_subgraph(graph, index, pins) for index, graph in enumerate(model.subgraphs))
    return replace(model, subgraphs=tuple(subgraphs))


def _in_subgraph(graph: Subgraph, index: int, pins: Pins) -> Subgraph:
    origin: dict[int, int] = {}
    shown = set(graph.outputs)  # roots whose bytes are an output
    pools = {tensor: pinned for (subgraph, tensor), pinned in pins.tensors.items() if subgraph == index}
    operators = []
    for op in graph.operators:
        source = op.inputs[0] if op.inputs else None
        if traits(op.kind).only_shape and source is not None and _may_share(graph, op, source, origin, shown):
            root, output = origin.get(source, source), op.outputs[0]
            producer = graph.operators[graph.producers[root]] if root in graph.producers else None
            if pins.may_view(index, op, producer) and _pin_together(pools, root, output):
                origin[output] = root
                if output in graph.outputs:
                    shown.add(root)
                op = replace(op, kind="VIEW", inputs=(source,), options=None)
        operators.append(op)
    return replace(graph, operators=tuple(operators))


def _pin_together(pools: dict[int, frozenset[int]], root: int, view: int) -> bool:
    """Pin the root to the pools that both pins allow; change nothing and return False if there are none."""
    pins = [pools[tensor] for tensor in (root, view) if tensor in pools]
    both = frozenset.intersection(*pins) if pins else frozenset[int]()
    if pins and both:
        pools[root] = both
    return not pins or bool(both)


def _may_share(graph: Subgraph, op: Operator, source: int, origin: dict[int, int], shown: set[int]) -> bool:
    root = origin.get(source, source)
    if len(op.outputs) != 1 or graph.tensors[root].is_variable or graph.tensors[root].is_constant:
        return False
    if graph.tensors[source].size != graph.tensors[op.outputs[0]].size:
        return False
    pinned = root in graph.inputs or root in shown
    return not (op.outputs[0] in graph.outputs and pinned)
