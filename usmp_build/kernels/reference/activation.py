"""Fused activations: as limits of the output."""

from __future__ import annotations

import numpy as np

from usmp_build.ir.graph import Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.reference.fixed_point import round_half_away, single
from usmp_build.kernels.reference.node import Node, Unsupported, integer_range

LARGEST_FLOAT = float(np.finfo(np.float32).max)

_REAL_LIMITS = {
    Activation.NONE: (None, None),
    Activation.RELU: (0.0, None),
    Activation.RELU_N1_TO_1: (-1.0, 1.0),
    Activation.RELU6: (0.0, 6.0),
}


def real_limits(activation: Activation) -> tuple[float, float]:
    """Return the least and the largest output of a float kernel."""
    low, high = _limits(activation)
    return -LARGEST_FLOAT if low is None else low, LARGEST_FLOAT if high is None else high


def quantized_limits(node: Node, activation: Activation, output: Tensor) -> tuple[int, int]:
    """Return the least and the largest output of an integer kernel, both less the output's zero point."""
    low, high = _limits(activation)
    zero_point = node.zero_point(output)
    least, most = (limit - zero_point for limit in integer_range(output.dtype))
    return (
        least if low is None else max(least, _quantized(node, low, output)),
        most if high is None else min(most, _quantized(node, high, output)),
    )


def _limits(activation: Activation) -> tuple[float | None, float | None]:
    if activation not in _REAL_LIMITS:
        raise Unsupported(f"it has no kernel with the activation {activation.name}")
    return _REAL_LIMITS[activation]


def _quantized(node: Node, limit: float, output: Tensor) -> int:
    """Divide in float32, as the limit of the model is computed."""
    steps = round_half_away(single(limit / node.scale(output)))
    if abs(steps) >= 1 << 31:
        message = f"limits {node.label(output)} to {limit:g}, which is {steps:g} steps of its scale: more than 2^31"
        raise node.error("K403", message, "quantize the model again; the scale is far too small")
    return steps
