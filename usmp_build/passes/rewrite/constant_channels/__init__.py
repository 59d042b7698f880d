"""Channels that are constant, or that nobody needs, go.

Training leaves channels that never leave one value, behind a RELU6 for example.  An analysis of intervals proves which
(`forward.py`); the bias of the operator that reads such a channel can stand for it; and what only such channels were
computed from is not needed either (`needed.py`).  What is left has the same values, in tensors with fewer channels
(`shrink.py`).

    %5 [1,12,12,64], 40 of them constant    →    %5 [1,12,12,24]

Only the main subgraph is looked at, and in it int8.  Its inputs and outputs stay as they are, and so do variables, what
the manifest speaks of, and what an operator touches that the analysis does not know.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np

from usmp_build.ir.graph import Model, Operator, Subgraph
from usmp_build.ir.rewritten import Made
from usmp_build.operators.table import traits
from usmp_build.operators.values.quantized import channels, is_tracked
from usmp_build.passes.rewrite.constant_channels.forward import Role, facts, read_role
from usmp_build.passes.rewrite.constant_channels.needed import needed
from usmp_build.passes.rewrite.constant_channels.shrink import shrink
from usmp_build.passes.rewrite.constant_channels.turns import needed_in_no_more_turns
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

_MOST_CHANNELS = 1 << 22
_MOST_WEIGHTS = 1 << 24
"""Of all operators together, what they share counted for each of them: a model with more stays as it is."""


def constant_channels(model: Model, pins: Pins = NO_PINS) -> Made:
    """Return the model with fewer channels, and which are left of the tensors that lost some."""
    graph = model.main
    if model.is_program or _is_large(graph):
        return Made(model)
    known = facts(graph, [_role(op, graph, pins) for op in graph.operators])
    find = needed if pins.may_cost else needed_in_no_more_turns
    kept = find(graph, known, _demanded(graph, pins))
    lost = {} if kept is None else {tensor: each for tensor, each in kept.items() if not each.all()}
    if kept is None or not lost:
        return Made(model)
    left = {
        (0, tensor): tuple(np.flatnonzero(each).tolist())
        for tensor, each in sorted(lost.items())
        if not graph.tensors[tensor].is_constant
    }
    return Made(replace(model, subgraphs=(shrink(graph, known, kept), *model.subgraphs[1:])), left)


def _is_large(graph: Subgraph) -> bool:
    touched = (graph.tensors[t] for op in graph.operators for t in (*op.inputs, *op.outputs) if t is not None)
    summing = (op for op in graph.operators if traits(op.kind).summed and len(op.inputs) > 1)
    return (
        sum(channels(tensor) for tensor in chain(graph.tensors, touched) if is_tracked(tensor)) > _MOST_CHANNELS
        or sum(graph.tensors[op.inputs[1]].elements for op in summing if op.inputs[1] is not None) > _MOST_WEIGHTS
    )


def _role(op: Operator, graph: Subgraph, pins: Pins) -> Role:
    """Nothing is known of operators that must stay as they are, or whose constants must."""
    constants = (t for t in op.inputs if t is not None and graph.tensors[t].is_constant)
    if not pins.may_change(0, op) or any(pins.keeps(0, tensor) for tensor in constants):
        return None
    return read_role(op, graph)


def _demanded(graph: Subgraph, pins: Pins) -> set[int]:
    """Return the tensors that keep all channels."""
    stays = {
        index
        for index, tensor in enumerate(graph.tensors)
        if tensor.is_variable or tensor.axis_separators is not None or tensor.is_withheld or pins.keeps(0, index)
    }
    return stays | {*graph.inputs, *graph.outputs}
