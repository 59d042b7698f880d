"""Removes channels that are constant, or that are not needed.

Training leaves channels whose output is constant, after a RELU6 for example.  Interval analysis proves which ones
(`forward.py`); the bias of the operator that reads such a channel can absorb it; and channels that are read only to
compute removed ones are not needed either (`needed.py`).  The remaining channels have the same values, in smaller
tensors (`shrink.py`).

    %5 [1,12,12,64], 40 of them constant    →    %5 [1,12,12,24]

Only int8 tensors of the main subgraph are considered.  Inputs, outputs, variables, tensors that the manifest names, and
operands of operators that the analysis does not support keep all channels.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np

from usmp_build.ir.graph import Model, Operator, Subgraph
from usmp_build.ir.rewritten import RewriteStep
from usmp_build.operators.table import traits
from usmp_build.operators.values.quantized import channels, is_tracked
from usmp_build.passes.rewrite.constant_channels.forward import Role, facts, read_role
from usmp_build.passes.rewrite.constant_channels.needed import needed, needed_in_no_more_turns
from usmp_build.passes.rewrite.constant_channels.shrink import shrink
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

_MOST_CHANNELS = 1 << 22
_MOST_WEIGHTS = 1 << 24
"""Most weights of all operators, shared ones counted repeatedly: a model with more is not changed."""


def constant_channels(model: Model, pins: Pins = NO_PINS) -> RewriteStep:
    """Return the model with fewer channels, and the indices of those kept in tensors that lost some."""
    graph = model.main
    if _is_large(graph):
        return RewriteStep(model)
    analysis = facts(graph, [_role(op, graph, pins) for op in graph.operators])
    find = needed if pins.may_cost else needed_in_no_more_turns
    kept = find(graph, analysis, _demanded(graph, pins))
    lost = {} if kept is None else {tensor: each for tensor, each in kept.items() if not each.all()}
    if kept is None or not lost:
        return RewriteStep(model)
    channels_left = {
        (0, tensor): tuple(np.flatnonzero(each).tolist())
        for tensor, each in sorted(lost.items())
        if not graph.tensors[tensor].is_constant
    }
    return RewriteStep(replace(model, subgraphs=(shrink(graph, analysis, kept), *model.subgraphs[1:])), channels_left)


def _is_large(graph: Subgraph) -> bool:
    touched = (graph.tensors[t] for op in graph.operators for t in (*op.inputs, *op.outputs) if t is not None)
    summing = (op for op in graph.operators if traits(op.kind).summed and len(op.inputs) > 1)
    return (
        sum(channels(tensor) for tensor in chain(graph.tensors, touched) if is_tracked(tensor)) > _MOST_CHANNELS
        or sum(graph.tensors[op.inputs[1]].elements for op in summing if op.inputs[1] is not None) > _MOST_WEIGHTS
    )


def _role(op: Operator, graph: Subgraph, pins: Pins) -> Role:
    """Return the role of an operator; None if it or its constants must not change."""
    constants = (t for t in op.inputs if t is not None and graph.tensors[t].is_constant)
    if not pins.may_change(0, op) or any(pins.keeps(0, tensor) for tensor in constants):
        return None
    return read_role(op, graph)


def _demanded(graph: Subgraph, pins: Pins) -> set[int]:
    stays = {
        index
        for index, tensor in enumerate(graph.tensors)
        if tensor.is_variable or tensor.axis_separators is not None or tensor.is_withheld or pins.keeps(0, index)
    }
    return stays | {*graph.inputs, *graph.outputs}
