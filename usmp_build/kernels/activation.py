"""Fused activations: as limits of the output."""

from __future__ import annotations

import numpy as np

from usmp_build.arithmetic.limits import MOST_STEPS, REAL_LIMITS, steps
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation, Limits
from usmp_build.kernels.node import Node, Unsupported, integer_range

LARGEST_FLOAT = float(np.finfo(np.float32).max)


def real_limits(activation: Activation, limits: Limits | None = None) -> tuple[float, float]:
    """Return the smallest and largest output of a float kernel, which has no `limits`."""
    if limits is not None:
        raise Unsupported("it has limits, which only integers may have")
    low, high = REAL_LIMITS[activation]
    return -LARGEST_FLOAT if low is None else low, LARGEST_FLOAT if high is None else high


def whole_limits(activation: Activation, limits: Limits | None = None) -> tuple[int, int]:
    """Return the smallest and largest output of a kernel of integers that nothing quantizes, which has no `limits`."""
    if limits is not None:
        raise Unsupported("it has limits, which only quantized integers may have")
    low, high = REAL_LIMITS[activation]
    least, most = integer_range(DType.INT32)
    return least if low is None else int(low), most if high is None else int(high)


def quantized_limits(
    node: Node, activation: Activation, output: Tensor, limits: Limits | None = None
) -> tuple[int, int]:
    """Return the smallest and largest output of an integer kernel, both less the output's zero point.

    `limits` clamp the output further; they are values of the output.
    """
    low, high = REAL_LIMITS[activation]
    zero_point = node.zero_point(output)
    bottom, top = integer_range(output.dtype)
    lowest, highest = bottom - zero_point, top - zero_point
    lowest = lowest if low is None else max(lowest, _quantized(node, low, output))
    highest = highest if high is None else min(highest, _quantized(node, high, output))
    if limits is not None:
        first, last = (min(max(limit, bottom), top) - zero_point for limit in limits)
        lowest, highest = (min(max(bound, first), last) for bound in (lowest, highest))
    return lowest, highest


def _quantized(node: Node, limit: float, output: Tensor) -> int:
    count = steps(limit, node.scale(output))
    if abs(count) >= MOST_STEPS:
        message = f"limits {node.label(output)} to {limit:g}, which is {count:g} steps of its scale: more than 2^31"
        raise node.error("K403", message, "quantize the model again; the scale is far too small")
    return count
