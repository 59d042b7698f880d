"""What the analysis asks of tensors; what it does not understand raises `Opaque`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from usmp_build.arithmetic.fixed_point import Factor, quantize
from usmp_build.arithmetic.limits import Quantized, clamp, int8_scale
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.options import Activation, Limits

LARGEST_SHIFT = 30
"""Of a factor that kernels accept."""


class Opaque(Exception):
    """Nothing is known of an operator: its output may hold anything, and it needs all of its inputs."""


def channels(tensor: Tensor) -> int:
    """Count the indices along the last axis; a scalar has one."""
    return tensor.shape[-1] if tensor.shape else 1


def is_tracked(tensor: Tensor) -> bool:
    """Whether a tensor has channels that the analysis follows."""
    return tensor.dtype is DType.INT8 and tensor.elements > 0


def quantized(tensor: Tensor) -> Quantized:
    """Return the only scale and zero point of an int8 tensor."""
    quantization = int8_scale(tensor)
    if quantization is None:
        raise Opaque
    return quantization


def factor(real: float) -> Factor:
    """Return a factor that kernels accept."""
    if not real < 2.0**LARGEST_SHIFT or quantize(real).shift > LARGEST_SHIFT:
        raise Opaque
    return quantize(real)


def limits(activation: Activation, output: Tensor, further: Limits | None = None) -> Limits:
    """Return the least and the largest quantized output; `further` limits apply after those of the activation."""
    bounds = clamp(activation, further, output)
    if bounds is None:
        raise Opaque
    return bounds


def operand(op: Operator, graph: Subgraph, position: int) -> Tensor | None:
    """Return an input; None when it was left out."""
    index = op.inputs[position] if position < len(op.inputs) else None
    return None if index is None else graph.tensors[index]


def constant_value(tensor: Tensor | None, dtype: DType) -> NDArray[np.generic]:
    """Return the value of a constant of this type."""
    if tensor is None or tensor.dtype is not dtype or not tensor.is_constant or tensor.is_withheld:
        raise Opaque
    return tensor.as_array()
