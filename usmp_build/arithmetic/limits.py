"""What integers of eight bits may be: the type's ends, and what activations and limits leave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from usmp_build.arithmetic.fixed_point import round_half_away, single
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation, Limits

REAL_LIMITS = {
    Activation.NONE: (None, None),
    Activation.RELU: (0.0, None),
    Activation.RELU_N1_TO_1: (-1.0, 1.0),
    Activation.RELU6: (0.0, 6.0),
    Activation.TANH: (None, None),
    Activation.SIGN_BIT: (None, None),
}
"""The least and the largest real output; None: the type's.  TensorFlow Lite Micro ignores TANH and SIGN_BIT where an
operator has one of the others."""

LEAST, MOST = -128, 127
"""Of int8."""
MOST_STEPS = 1 << 31
"""Kernels refuse a limit that is as many steps of a scale, or more."""
LARGEST_FLOAT = (2 - 2**-23) * 2.0**127


class Quantized(NamedTuple):
    """How all of an int8 tensor is quantized."""

    scale: float
    zero_point: int


def int8_scale(tensor: Tensor) -> Quantized | None:
    """Return scale and zero point of an int8 tensor that has one of each; None for other tensors."""
    quantization = tensor.quantization
    if (
        tensor.dtype is not DType.INT8
        or quantization is None
        or len(quantization.scales) != 1
        or not quantization.zero_points
    ):
        return None
    scale, zero_point = quantization.scales[0], quantization.zero_points[0]
    is_number = math.isfinite(scale) and scale > 0 and LEAST <= zero_point <= MOST
    return Quantized(scale, zero_point) if is_number else None


def is_symmetric_int16(tensor: Tensor) -> bool:
    """Tell whether a tensor is of int16, and 0 is its real 0."""
    quantization = tensor.quantization
    return tensor.dtype is DType.INT16 and quantization is not None and not any(quantization.zero_points)


def is_table(values: Sequence[int]) -> bool:
    """Tell whether there is an int8 for each int8."""
    return len(values) == MOST - LEAST + 1 and min(values) >= LEAST and max(values) <= MOST


def steps(limit: float, scale: float) -> int:
    """Return a real limit as a multiple of a scale: divided in float32, as the limit of the model is computed."""
    return round_half_away(single(max(-LARGEST_FLOAT, min(LARGEST_FLOAT, limit / scale))))


def clamp(activation: Activation, limits: Limits | None, tensor: Tensor) -> Limits | None:
    """Return the least and the largest value that an activation, and `limits` after it, leave of an int8 tensor.

    None where that is not known.
    """
    quantized = int8_scale(tensor)
    if quantized is None:
        return None
    ends = [None if limit is None else steps(limit, quantized.scale) for limit in REAL_LIMITS[activation]]
    if any(end is not None and abs(end) >= MOST_STEPS for end in ends):
        return None
    low, high = (None if end is None else end + quantized.zero_point for end in ends)
    bounds = LEAST if low is None else max(LEAST, low), MOST if high is None else min(MOST, high)
    return within(bounds, within(limits or (LEAST, MOST), (LEAST, MOST)))


def within(values: Limits, limits: Limits) -> Limits:
    """Return what a clamp leaves of a range."""
    low, high = (min(max(value, limits[0]), limits[1]) for value in values)
    return low, high


def float_clamp(activation: Activation) -> tuple[float, float]:
    """Return the least and the largest value that an activation leaves of floats."""
    low, high = REAL_LIMITS[activation]
    return -float("inf") if low is None else low, float("inf") if high is None else high
