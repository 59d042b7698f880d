"""Random models of functions of one number; see `cases`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.support.kernels.drawing import (
    FLOAT,
    INT8,
    INT16,
    Case,
    Random,
    activation,
    case,
    pick,
    plain,
    single,
    span,
)
from usmp_build.ir.graph import DType, Tensor
from usmp_build.operators.unary import LeakyRelu

INT32, UINT8 = DType.INT32, DType.UINT8


def shape(r: Random) -> tuple[int, ...]:
    return tuple(span(r, 1, 7) for _ in range(span(r, 1, 4)))


def same_scale_or_other(r: Random, source: Tensor) -> Tensor:
    """Draw the output of a function."""
    assert source.quantization is not None
    (scale,) = source.quantization.scales
    zero = 0 if source.dtype is INT16 else None
    if r.integers(2):
        return Tensor("y", source.shape, source.dtype, source.quantization)
    return activation("y", source.shape, source.dtype, scale * r.uniform(0.1, 3), zero, r)


def rectifier(kind: str) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        dtype = pick(r, [INT8, INT8, INT16, FLOAT])
        scale = pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)]) / (200 if dtype is INT16 else 1)
        zero = 0 if dtype is INT16 and kind == "RELU" else None
        source = activation("x", shape(r), dtype, scale, zero, r)
        output = plain("y", source.shape, FLOAT) if dtype is FLOAT else same_scale_or_other(r, source)
        return case(r, kind, (source,), output)

    return make


def sigmoid(kind: str, int8_scale: float, int8_zero_point: int) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        dtype = pick(r, [INT8, INT8, INT16, INT16, FLOAT])
        small = pick(r, [r.uniform(1e-5, 0.01), 2.0 ** span(r, -15, -9), r.uniform(0.01, 2.6), 10 ** r.uniform(-8, 0)])
        scale = small if dtype is INT16 else pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)])
        target = (1 / 32768, 0) if dtype is INT16 else (int8_scale, int8_zero_point)
        source = activation("x", shape(r), dtype, scale, 0 if dtype is INT16 else None, r)
        return case(r, kind, (source,), activation("y", source.shape, dtype, *target))

    return make


def every_int8(r: Random, kind: str, source_zero: int | None = None, low: float = 0.05, high: float = 3) -> Case:
    """All values go in, at scales for which values are near the bends, far from them, or do not fit the output."""
    scale = pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)])
    source = activation("x", (2, 128), INT8, scale, source_zero, r)
    output = activation("y", (2, 128), INT8, scale * r.uniform(low, high), r=r)
    made = case(r, kind, (source,), output)
    return Case(made.graph, (r.permutation(np.arange(-128, 128)).astype(np.int8).reshape(2, 128),))


def hard_swish(r: Random) -> Case:
    return every_int8(r, "HARD_SWISH")


def leaky_relu(r: Random) -> Case:
    dtype = pick(r, [INT8, INT8, INT16, FLOAT])
    scale = pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)])
    alpha = single(pick(r, [r.uniform(0, 1), r.uniform(0, 1), r.uniform(1, 4), 0.0]))
    source = activation("x", shape(r), dtype, scale, r=r)
    output = activation("y", source.shape, dtype, scale * pick(r, [1.0, r.uniform(0.1, 3)]), r=r)
    return case(r, "LEAKY_RELU", (source,), output, LeakyRelu(alpha))


def quantize(r: Random) -> Case:
    pairs = [(FLOAT, INT8), (FLOAT, INT16), (INT8, INT8), (INT8, UINT8), (UINT8, INT8), (INT8, INT16), (INT16, INT8)]
    pairs += [(INT16, INT16), (INT16, INT32), (INT32, INT16), (INT8, INT32), (INT32, INT8)]
    source_type, output_type = pick(r, pairs)
    scale = r.uniform(0.001, 0.2)
    ratio = {INT16: 1 / 200}.get(output_type, 1.0) / {INT16: 1 / 200}.get(source_type, 1.0)
    scales = scale, scale * ratio * r.uniform(0.3, 3)
    if source_type is INT32:  # all values of which only fit a factor below 1
        scales = scale, scale * r.uniform(1, 1 << (25 if output_type is INT8 else 17))
    size = (span(r, 1, 200),)
    source, output = (
        activation(name, size, dtype, each, 0 if dtype is INT32 else None, r)
        for name, dtype, each in zip("xy", (source_type, output_type), scales, strict=True)
    )
    return case(r, "QUANTIZE", (source,), output)


def dequantize(r: Random) -> Case:
    source = activation("x", (span(r, 1, 200),), pick(r, [INT8, UINT8, INT16]), r.uniform(0.001, 0.2), r=r)
    return case(r, "DEQUANTIZE", (source,), activation("y", source.shape, FLOAT))


CASES: dict[str, Callable[[Random], Case]] = {
    "DEQUANTIZE": dequantize,
    "HARD_SWISH": hard_swish,
    "LEAKY_RELU": leaky_relu,
    "LOGISTIC": sigmoid("LOGISTIC", 1 / 256, -128),
    "QUANTIZE": quantize,
    "RELU": rectifier("RELU"),
    "RELU6": rectifier("RELU6"),
    "TANH": sigmoid("TANH", 1 / 128, 0),
}
