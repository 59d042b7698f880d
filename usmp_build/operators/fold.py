"""Operators without options, computed at build time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.ir.graph import DType, Operator, Quantization, Tensor

Array: TypeAlias = NDArray[Any]
_WHOLE = {DType.INT8, DType.UINT8, DType.INT16}


def arrays(sources: Sequence[Tensor]) -> list[Array]:
    """Return the values of constants."""
    return [source.as_array() for source in sources]


def flat(numbers: Sequence[Array]) -> list[list[int]]:
    """Return the integers of each array as a list."""
    return [[int(number) for number in each.reshape(-1)] for each in numbers]


def same_elements(_: Operator, sources: Sequence[Tensor]) -> Array:
    """All elements as they are; further operands say a shape."""
    return sources[0].as_array()


def transposed(_: Operator, sources: Sequence[Tensor]) -> Array:
    """TRANSPOSE."""
    data, axes = sources
    return np.asarray(data.as_array().transpose([int(axis) for axis in axes.as_array().ravel()]))


def broadcast(_: Operator, sources: Sequence[Tensor]) -> Array:
    """BROADCAST_TO."""
    data, shape = sources
    return np.broadcast_to(data.as_array(), [int(size) for size in shape.as_array().ravel()])


def filled(_: Operator, sources: Sequence[Tensor]) -> Array:
    """FILL."""
    shape, value = sources
    if value.elements != 1:
        raise ValueError
    return np.broadcast_to(value.as_array().ravel()[0], [int(size) for size in shape.as_array().ravel()])


def dequantized(_: Operator, sources: Sequence[Tensor]) -> Array:
    """DEQUANTIZE: the product is rounded once, to float32."""
    (source,) = sources
    data, quantized = source.as_array(), source.quantization
    if source.dtype is DType.FLOAT16:
        return data.astype(np.float32)
    if source.dtype not in _WHOLE or quantized is None:
        raise ValueError
    scales, points = (_along(numbers, quantized, data.ndim) for numbers in (quantized.scales, quantized.zero_points))
    with np.errstate(over="ignore"):  # what is too large is infinite, as in C
        return np.asarray(scales * (data.astype(np.float64) - points)).astype(np.float32)


def _along(numbers: Sequence[float], quantized: Quantization, rank: int) -> Array:
    """Lay one number, or one for each index along the axis, beside an array."""
    if len(numbers) == 1:
        return np.array(numbers, np.float64)
    return np.array(numbers, np.float64).reshape([-1 if axis == quantized.axis else 1 for axis in range(rank)])
