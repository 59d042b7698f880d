"""Removes channels from the tensors, weights and biases of a subgraph."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from usmp_build.arithmetic import vectors
from usmp_build.arithmetic.vectors import Booleans, Integers
from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Quantization, Subgraph, Tensor
from usmp_build.passes.rewrite.constant_channels.forward import Facts
from usmp_build.passes.rewrite.constant_channels.needed import Kept
from usmp_build.passes.rewrite.constant_channels.sums import Sum


def shrink(graph: Subgraph, facts: Facts, kept: Kept) -> Subgraph:
    """Return the subgraph without the channels that are not kept."""
    tensors = list(graph.tensors)
    for index, channels in kept.items():
        if not channels.all():
            tensors[index] = _along(tensors[index], len(tensors[index].shape) - 1, np.flatnonzero(channels))
    read = (t for op in graph.operators for t in op.inputs if t is not None)
    uses = Counter((*graph.inputs, *graph.outputs, *read))
    shrinking = _Shrinking(facts, kept, tensors, uses)
    operators = tuple(shrinking.operator(index, op) for index, op in enumerate(graph.operators))
    return replace(graph, tensors=tuple(tensors), operators=operators)


@frozen
class _Shrinking:
    facts: Facts
    kept: Kept
    tensors: list[Tensor]
    """All tensors; copies of constants that can no longer be shared are appended."""
    uses: Counter[int]
    """Tensor → number of times it is read by operators, or is an input or output."""

    def operator(self, index: int, op: Operator) -> Operator:
        role = self.facts.roles[index]
        if role is None or all(self.kept[tensor].all() for tensor in role.tensors):
            return op
        if isinstance(role, Sum):
            return self._sum(index, op, role)
        return replace(op, inputs=op.inputs[:1]) if op.kind == "RESHAPE" else op  # its second operand is the shape

    def _sum(self, index: int, op: Operator, role: Sum) -> Operator:
        rows = np.flatnonzero(self.kept[role.target])
        inputs = self.kept[role.source][role.channel]
        bias, settled = role.bias, np.zeros(len(role.bias), np.bool_)
        if not role.depthwise:
            settled = self.facts.settled(index)
            bias = np.where(settled, self.facts.sums[index].low, vectors.wrap(bias + self._folded(role)))
        weights = op.inputs[1]
        assert weights is not None
        stored = self.tensors[weights]
        if role.depthwise:
            changed = _along(stored, 3, rows)
        else:
            changed = _along(_along(_without(stored, settled), 0, rows), len(stored.shape) - 1, np.flatnonzero(inputs))
        operands = [op.inputs[0], self._put(weights, changed), *op.inputs[2:]]
        if role.has_bias and op.inputs[2] is not None:
            given = self.tensors[op.inputs[2]]
            given = replace(given, data=bias.astype("<i4").tobytes())
            operands[2] = self._put(op.inputs[2], _along(given, len(given.shape) - 1, rows))
        return replace(op, inputs=tuple(operands))

    def _folded(self, role: Sum) -> Integers:
        """Return the contribution of removed constant channels to each sum."""
        x = self.facts.intervals[role.source]
        absorbed = role.is_foldable(x) & ~self.kept[role.source]
        values = np.where(absorbed, x.low - role.zero_point, 0)[role.channel]
        return np.asarray((role.widened() * values).sum((1, 2)), np.int64)

    def _put(self, index: int, tensor: Tensor) -> int:
        """Store a changed constant and return its index: in place, or appended if it has other uses."""
        if self.uses[index] == 1:
            self.tensors[index] = tensor
            return index
        self.tensors.append(tensor)
        return len(self.tensors) - 1


def _without(weights: Tensor, settled: Booleans) -> Tensor:
    array = weights.as_array().copy()
    array[settled] = weights.quantization.zero_points[0] if weights.quantization else 0
    return replace(weights, data=array.tobytes())


def _along(tensor: Tensor, axis: int, indices: Integers) -> Tensor:
    shape = (*tensor.shape[:axis], len(indices), *tensor.shape[axis + 1 :])
    data = None if tensor.data is None else np.take(tensor.as_array(), indices, axis).tobytes()
    return replace(tensor, shape=shape, data=data, quantization=_quantization(tensor.quantization, axis, indices))


def _quantization(quantization: Quantization | None, axis: int, indices: Integers) -> Quantization | None:
    if quantization is None or not quantization.per_channel or quantization.axis != axis:
        return quantization
    points = (
        quantization.zero_points
        if len(quantization.zero_points) == 1
        else tuple(quantization.zero_points[i] for i in indices)
    )
    return replace(quantization, scales=tuple(quantization.scales[i] for i in indices), zero_points=points)
