"""Bounds the values of a tensor by the activation of the operator that writes it."""

from __future__ import annotations

from typing import TypeAlias

from usmp_build.arithmetic.limits import LEAST, MOST, clamp, float_clamp
from usmp_build.ir.graph import DType, Operator
from usmp_build.ir.options import Activation
from usmp_build.operators.binary import Binary
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D, FullyConnected
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.edit import Net

Clamped: TypeAlias = Conv2D | DepthwiseConv2D | FullyConnected | Binary | Pool2D
"""Options of operators that finally clamp their results."""

_FARTHEST = 16
"""Most operators that are followed back."""


def value_range(tensor: int, net: Net) -> tuple[float, float]:
    """Return the least and the largest value that an int8 or float tensor may hold; int8 values are quantized."""
    first_tensor = net.graph.tensors[tensor]
    widest = (-float("inf"), float("inf")) if first_tensor.dtype.is_float else (LEAST, MOST)
    for _ in range(_FARTHEST):
        op = net.producer(tensor)
        if op is None or not op.inputs or op.inputs[0] is None:
            return widest
        clamped = _own_range(op.outputs[0], net)
        if clamped is not None and clamped != widest:
            return clamped
        source = net.graph.tensors[op.inputs[0]]
        if not traits(op.kind).within_inputs or (source.dtype, source.quantization) != (
            first_tensor.dtype,
            first_tensor.quantization,
        ):
            return widest
        tensor = op.inputs[0]
    return widest


def _own_range(tensor: int, net: Net) -> tuple[float, float] | None:
    """Return the limits to which the writer of a tensor clamps it; None if it does not clamp."""
    op = net.producer(tensor)
    if op is None:
        return None
    activation = op.options.activation if isinstance(op.options, Clamped) else activation_of(op)
    if activation is None:
        return None
    output = net.graph.tensors[tensor]
    if output.dtype is DType.FLOAT32:
        return float_clamp(activation)
    if op.kind == "RELU6":  # it clamps with the scale of its input
        source = net.tensor(op.inputs[0]) if op.inputs else None
        return clamp(activation, None, source) if source is not None else None
    return clamp(activation, op.options.limits if isinstance(op.options, Clamped) else None, output)


def activation_of(op: Operator) -> Activation | None:
    """Return the activation that an operator consists of, such as that of RELU; None if it is none."""
    elementwise = traits(op.kind).elementwise
    return elementwise.activation if elementwise else None
