"""What values a tensor may have, as far as the activation of whoever writes it says so."""

from __future__ import annotations

from typing import TypeAlias

from usmp_build.arithmetic.limits import LEAST, MOST, clamp, float_clamp
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Activation, Binary, Conv2D, DepthwiseConv2D, FullyConnected, Pool2D
from usmp_build.passes.rewrite.edit import Net

Clamped: TypeAlias = Conv2D | DepthwiseConv2D | FullyConnected | Binary | Pool2D
"""Options of operators that clamp what they compute, last of all."""

ACTIVATIONS = {
    "RELU": Activation.RELU,
    "RELU6": Activation.RELU6,
    "RELU_N1_TO_1": Activation.RELU_N1_TO_1,
}
"""Activations as operators of their own."""

_FARTHEST = 16
"""Operators that a search looks through."""
_WITHIN = {"VIEW", "RESHAPE", "SQUEEZE", "EXPAND_DIMS", "MAX_POOL_2D", "AVERAGE_POOL_2D"}
"""Kinds whose outputs lie between the least and the largest of their inputs."""


def value_range(tensor: int, net: Net) -> tuple[float, float]:
    """Return the least and the largest value that a tensor of int8 or floats may have, as its bytes say it."""
    own = net.graph.tensors[tensor]
    widest = (-float("inf"), float("inf")) if own.dtype.is_float else (LEAST, MOST)
    for _ in range(_FARTHEST):
        op = net.producer(tensor)
        if op is None or not op.inputs or op.inputs[0] is None:
            return widest
        found = _own_range(op.outputs[0], net)
        if found is not None and found != widest:
            return found
        source = net.graph.tensors[op.inputs[0]]
        if op.kind not in _WITHIN or (source.dtype, source.quantization) != (own.dtype, own.quantization):
            return widest
        tensor = op.inputs[0]
    return widest


def _own_range(tensor: int, net: Net) -> tuple[float, float] | None:
    """Return what the operator that writes a tensor makes of it, whatever its inputs are; None: it does not clamp."""
    op = net.producer(tensor)
    if op is None or not (isinstance(op.options, Clamped) or op.kind in ACTIVATIONS):
        return None
    output = net.graph.tensors[tensor]
    activation = op.options.activation if isinstance(op.options, Clamped) else ACTIVATIONS[op.kind]
    if output.dtype is DType.FLOAT32:
        return float_clamp(activation)
    if op.kind == "RELU6":  # it clamps with the scale of its input
        source = net.tensor(op.inputs[0]) if op.inputs else None
        return clamp(activation, None, source) if source is not None else None
    return clamp(activation, op.options.limits if isinstance(op.options, Clamped) else None, output)
