"""Interval analysis: bounds every channel of every int8 tensor for all inputs, in one pass over the operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from usmp_build.arithmetic.vectors import Booleans
from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.operators.table import traits
from usmp_build.operators.values.interval import Interval, full
from usmp_build.operators.values.quantized import Opaque, channels, is_tracked
from usmp_build.passes.rewrite.constant_channels.channelwise import Channelwise, read_channelwise
from usmp_build.passes.rewrite.constant_channels.read_sums import read_sum
from usmp_build.passes.rewrite.constant_channels.sums import Sum

Role: TypeAlias = Sum | Channelwise | None
"""An operator as the analysis models it; None: opaque."""


@frozen
class Facts:
    """The result of the analysis of a subgraph."""

    roles: tuple[Role, ...]
    """One for each operator."""
    intervals: dict[int, Interval]
    """Tracked tensor → interval of each channel."""
    sums: dict[int, Interval]
    """Operator that is a `Sum` → intervals of its sums."""

    def settled(self, operator: int) -> Booleans:
        """Tell of each output of a sum whether it is constant, so that a bias alone computes it."""
        role = self.roles[operator]
        assert isinstance(role, Sum)
        return role.is_settled(self.sums[operator])


def read_role(op: Operator, graph: Subgraph) -> Role:
    """Return the role of an operator; None if it is opaque."""
    try:
        return read_sum(op, graph) if traits(op.kind).summed else read_channelwise(op, graph)
    except Opaque:
        return None


def facts(graph: Subgraph, roles: Sequence[Role]) -> Facts:
    """Analyze the operators in their order, given the role of each."""
    intervals = {i: _at_first(tensor) for i, tensor in enumerate(graph.tensors) if is_tracked(tensor)}
    sums = {}
    for index, role in enumerate(roles):
        if isinstance(role, Sum):
            sums[index] = role.accumulated(intervals[role.source])
            intervals[role.target] = role.output(sums[index])
        elif isinstance(role, Channelwise):
            intervals[role.target] = role.output(intervals)
    return Facts(tuple(roles), intervals, sums)


def _at_first(tensor: Tensor) -> Interval:
    """Return the initial interval of a tensor: the values of a constant, else the full range."""
    if not tensor.is_constant or tensor.is_withheld:
        return full(channels(tensor))
    rows = tensor.as_array().reshape(-1, channels(tensor))
    return Interval(rows.min(0).astype(np.int64), rows.max(0).astype(np.int64))
