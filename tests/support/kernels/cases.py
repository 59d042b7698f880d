"""Random models of one operator, each with inputs: what the C and TensorFlow Lite Micro must agree on.

`CASES[kind]` makes one from a random generator; the same generator makes the same case.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod, sqrt

import numpy as np

from tests.support.kernels import reductions
from tests.support.kernels.drawing import (
    ACTIVATIONS,
    FLOAT,
    INT8,
    INT16,
    Case,
    Random,
    activation,
    case,
    constant,
    pick,
    single,
    span,
    values,
)
from tests.support.kernels.moving import concatenation, pack, pad, reshaping, split, strided_slice, transpose
from usmp_build.ir import options as o
from usmp_build.ir.graph import DType, Quantization, Tensor
from usmp_build.operators.binary import Binary
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.reductions import Softmax
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D, FullyConnected
from usmp_build.operators.unary import LeakyRelu


def slid(padding: o.Padding, size: int, reach: int, stride: int) -> int:
    """Return how many places a window has; less than 1 when it does not fit."""
    return -(-size // stride) if padding is o.Padding.SAME else (size - reach) // stride + 1


def geometry(
    r: Random, most_dilation: int
) -> tuple[o.Padding, tuple[int, int], tuple[int, int], dict[str, int], tuple[int, int]]:
    """Draw an image's size, a window over it, and the size of what comes out."""
    while True:
        padding = pick(r, list(o.Padding))
        size = span(r, 1, 9), span(r, 1, 9)
        kernel = span(r, 1, 4), span(r, 1, 4)
        numbers = {f"stride_{axis}": span(r, 1, 3) for axis in "hw"}
        numbers |= {f"dilation_{axis}": pick(r, [1, 1, span(r, 1, most_dilation)]) for axis in "hw"}
        reach = [(k - 1) * numbers[f"dilation_{axis}"] + 1 for k, axis in zip(kernel, "hw", strict=True)]
        result = [slid(padding, s, c, numbers[f"stride_{a}"]) for s, c, a in zip(size, reach, "hw", strict=True)]
        if min(result) >= 1:
            return padding, size, kernel, numbers, (result[0], result[1])


def filters(
    r: Random, shape: tuple[int, ...], axis: int, dtype: DType, source: Tensor, many: bool
) -> tuple[Tensor, Tensor | None, float]:
    """Draw weights and perhaps a bias, and a scale that suits the output."""
    channels = shape[axis]
    if dtype is FLOAT:
        weights = constant("weights", r.normal(0, 1, shape).astype(np.float32))
        bias = constant("bias", r.normal(0, 1, channels).astype(np.float32))
        return weights, pick(r, [bias, bias, None]), 1.0
    scales = r.uniform(0.001, 0.02, channels if many else 1)
    weights = constant("weights", r.integers(-127, 128, shape, np.int8), scales, axis=axis)
    assert source.quantization is not None
    assert weights.quantization is not None
    unit = source.quantization.scales[0] * np.array(weights.quantization.scales)
    bias = constant("bias", r.integers(-20000, 20000, channels).astype(np.int32), unit)
    usual = sqrt(prod(shape) / channels) * r.uniform(10, 150)
    return weights, pick(r, [bias, bias, None]), float(unit.mean() * pick(r, [usual, usual, usual, r.uniform(0.2, 3)]))


def conv_2d(r: Random) -> Case:
    dtype = pick(r, [INT8, INT8, FLOAT])
    padding, size, kernel, numbers, result = geometry(r, 3)
    images, channels, outputs = span(r, 1, 2), pick(r, [1, 2, 3, 4, 8, 17, 32]), span(r, 1, 9)
    source = activation("x", (images, *size, channels), dtype, r.uniform(0.001, 0.2), r=r)
    shape = (outputs, *kernel, channels)
    weights, bias, scale = filters(r, shape, 0, dtype, source, bool(r.integers(2)))
    output = activation("y", (images, *result, outputs), dtype, scale, r=r)
    options = Conv2D(padding=padding, activation=pick(r, ACTIVATIONS), **numbers)
    return case(r, "CONV_2D", (source, weights, bias), output, options)


def depthwise_conv_2d(r: Random) -> Case:
    dtype = pick(r, [INT8, INT8, FLOAT])
    padding, size, kernel, numbers, result = geometry(r, 3)
    images, channels, multiplier = span(r, 1, 2), span(r, 1, 9), pick(r, [1, 1, 1, 2, 3, 4, 8])
    source = activation("x", (images, *size, channels), dtype, r.uniform(0.001, 0.2), r=r)
    shape = (1, *kernel, channels * multiplier)
    weights, bias, scale = filters(r, shape, 3, dtype, source, bool(r.integers(2)))
    while bias is None:  # TensorFlow Lite Micro crashes without one
        weights, bias, scale = filters(r, shape, 3, dtype, source, bool(r.integers(2)))
    output = activation("y", (images, *result, channels * multiplier), dtype, scale, r=r)
    options = DepthwiseConv2D(padding=padding, activation=pick(r, ACTIVATIONS), depth_multiplier=multiplier, **numbers)
    return case(r, "DEPTHWISE_CONV_2D", (source, weights, bias), output, options)


def fully_connected(r: Random) -> Case:
    dtype = pick(r, [INT8, INT8, FLOAT])
    batches, inputs, outputs = span(r, 1, 3), span(r, 1, 70), span(r, 1, 9)
    source = activation("x", (batches, inputs), dtype, r.uniform(0.001, 0.2), r=r)
    many = bool(r.integers(2)) and outputs > 1
    weights, bias, scale = filters(r, (outputs, inputs), 0, dtype, source, many)
    if dtype is INT8 and not many and r.integers(3) == 0:
        assert weights.quantization is not None
        q = Quantization(weights.quantization.scales, (span(r, -10, 10),))
        weights = Tensor(weights.name, weights.shape, INT8, q, weights.data)
    output = activation("y", (batches, outputs), dtype, scale, r=r)
    return case(r, "FULLY_CONNECTED", (source, weights, bias), output, FullyConnected(pick(r, ACTIVATIONS)))


def near_ties(r: Random, kind: str) -> Case:
    """Draw sums (all of them biases) just below and just above what rounds up: a factor's last bit tells them apart."""
    halves = np.arange(-100, 100) + 0.5
    source = activation("x", (1, 1, 1, 1), INT8, r.uniform(0.001, 0.1), r=r)
    scales = r.uniform(0.001, 0.1, 400 if kind == "CONV_2D" else 1)
    shape = (400, 1, 1, 1) if kind == "CONV_2D" else (400, 1)
    weights = constant("weights", np.zeros(shape, np.int8), scales)
    output = activation("y", (1, 1, 1, 400), INT8, source.quantization.scales[0] * scales.mean() * 2**22, 0)
    factors = source.quantization.scales[0] * np.array(weights.quantization.scales) / output.quantization.scales[0]
    sums = np.floor(np.repeat(halves, 2) / factors) + np.tile([0, 1], 200)
    bias = constant("bias", np.clip(sums, -(2**31), 2**31 - 1).astype(np.int32))
    options = Conv2D() if kind == "CONV_2D" else FullyConnected()
    return case(r, kind, (source, weights, bias), output, options)


def pool_2d(kind: str) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        dtype = FLOAT if kind == "L2_POOL_2D" else pick(r, [INT8, INT8, INT16, FLOAT])
        padding, size, kernel, numbers, result = geometry(r, 1)
        images, channels = span(r, 1, 2), span(r, 1, 9)
        scale, zero_point = r.uniform(0.01, 0.2), span(r, -128, 127)
        source = activation("x", (images, *size, channels), dtype, scale, zero_point)
        output = activation("y", (images, *result, channels), dtype, scale, zero_point)
        options = Pool2D(padding, numbers["stride_h"], numbers["stride_w"], kernel[0], kernel[1], pick(r, ACTIVATIONS))
        return case(r, kind, (source,), output, options)

    return make


def binary(kind: str) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        dtype = pick(r, [INT8, INT8, FLOAT])
        rank = span(r, 1, 5)
        full = [span(r, 1, 5) for _ in range(rank)]
        shapes = [full, full]
        if r.integers(2):
            shapes = [[pick(r, [size, size, 1]) for size in full][span(r, 0, rank - 1) :] for _ in range(2)]
        scales = r.uniform(0.001, 0.3, 2)
        left, right = (activation(n, s, dtype, c, r=r) for n, s, c in zip("ab", shapes, scales, strict=True))
        scale = prod(scales) * 128 if kind == "MUL" else sum(scales)
        output = activation("y", np.broadcast_shapes(*map(tuple, shapes)), dtype, scale * r.uniform(0.2, 1), r=r)
        if r.integers(4) == 0:
            data = values(r, right)
            q = right.quantization
            right = constant("b", data, q.scales if q else (), q.zero_points if q else ())
        return case(r, kind, (left, right), output, Binary(pick(r, ACTIVATIONS)))

    return make


def softmax(r: Random) -> Case:
    source_type, output_type = pick(r, [(INT8, INT8), (INT8, INT16), (INT16, INT16), (FLOAT, FLOAT)])
    shape = [*(span(r, 1, 4) for _ in range(span(r, 0, 3))), pick(r, [1, 2, 10, 300])]
    scale, zero_point = {INT8: (1 / 256, -128), INT16: (1 / 65536, -32768)}.get(output_type, (1.0, 0))
    middle = None
    if source_type is INT16:
        scale, zero_point, middle = 1 / 32768, 0, 0
    step = pick(r, [r.uniform(0.001, 0.5), r.uniform(1e-7, 1e-3), 20.0])
    source = activation("x", shape, source_type, step, middle, r)
    output = activation("y", shape, output_type, scale, zero_point)
    return case(r, "SOFTMAX", (source,), output, Softmax(single(pick(r, [1.0, 1.0, r.uniform(0.2, 3)]))))


def unary(kind: str, *fixed: float) -> Callable[[Random], Case]:
    """`fixed` are scale and zero point of the output, for kinds that have no choice."""

    def make(r: Random) -> Case:
        dtype = pick(r, [INT8, INT8, FLOAT])
        shape = tuple(span(r, 1, 7) for _ in range(span(r, 1, 4)))
        scale, zero_point = pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)]), span(r, -128, 127)
        target = fixed or pick(r, [(scale, zero_point), (scale * r.uniform(0.1, 3), span(r, -128, 127))])
        source = activation("x", shape, dtype, scale, zero_point)
        return case(r, kind, (source,), activation("y", shape, dtype, target[0], int(target[1])))

    return make


def hard_swish(r: Random) -> Case:
    """All values go in, at scales for which values are near the bends, far from them, or do not fit the output."""
    source = activation("x", (2, 128), INT8, pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)]), r=r)
    output = activation("y", (2, 128), INT8, source.quantization.scales[0] * r.uniform(0.05, 3), r=r)
    made = case(r, "HARD_SWISH", (source,), output)
    return Case(made.graph, (r.permutation(np.arange(-128, 128)).astype(np.int8).reshape(2, 128),))


def leaky_relu(r: Random) -> Case:
    dtype = pick(r, [INT8, INT8, DType.INT16, FLOAT])
    shape = tuple(span(r, 1, 7) for _ in range(span(r, 1, 4)))
    scale = pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)])
    alpha = single(pick(r, [r.uniform(0, 1), r.uniform(0, 1), r.uniform(1, 4), 0.0]))
    source = activation("x", shape, dtype, scale, r=r)
    output = activation("y", shape, dtype, scale * pick(r, [1.0, r.uniform(0.1, 3)]), r=r)
    return case(r, "LEAKY_RELU", (source,), output, LeakyRelu(alpha))


def quantize(r: Random) -> Case:
    pairs = [(FLOAT, INT8), (FLOAT, DType.INT16), (INT8, INT8), (INT8, DType.UINT8), (DType.UINT8, INT8)]
    pairs += [(INT8, DType.INT16), (DType.INT16, INT8), (DType.INT16, DType.INT16)]
    pairs += [(DType.INT16, DType.INT32), (DType.INT32, DType.INT16)]
    source_type, output_type = pick(r, pairs)
    shape = (span(r, 1, 200),)
    scale = r.uniform(0.001, 0.2)
    ratio = {DType.INT16: 1 / 200}.get(output_type, 1.0) / {DType.INT16: 1 / 200}.get(source_type, 1.0)
    scales = scale, scale * ratio * r.uniform(0.3, 3)
    if source_type is DType.INT32:  # all values of which only fit a factor below 1
        scales = scale, scale * r.uniform(1, 1 << 17)
    source, output = (
        activation(name, shape, dtype, each, 0 if dtype is DType.INT32 else None, r)
        for name, dtype, each in zip("xy", (source_type, output_type), scales, strict=True)
    )
    return case(r, "QUANTIZE", (source,), output)


def dequantize(r: Random) -> Case:
    dtype = pick(r, [INT8, DType.UINT8, DType.INT16])
    shape = (span(r, 1, 200),)
    source = activation("x", shape, dtype, r.uniform(0.001, 0.2), r=r)
    return case(r, "DEQUANTIZE", (source,), activation("y", shape, FLOAT))


CASES: dict[str, Callable[[Random], Case]] = {
    "ADD": binary("ADD"),
    "AVERAGE_POOL_2D": pool_2d("AVERAGE_POOL_2D"),
    "CONCATENATION": concatenation,
    "CONV_2D": conv_2d,
    "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "DEQUANTIZE": dequantize,
    "EXPAND_DIMS": reshaping("EXPAND_DIMS"),
    "FULLY_CONNECTED": fully_connected,
    "HARD_SWISH": hard_swish,
    "L2_POOL_2D": pool_2d("L2_POOL_2D"),
    "LEAKY_RELU": leaky_relu,
    "LOGISTIC": unary("LOGISTIC", 1 / 256, -128),
    "MAX_POOL_2D": pool_2d("MAX_POOL_2D"),
    "MUL": binary("MUL"),
    "PACK": pack,
    "PAD": pad("PAD"),
    "PADV2": pad("PADV2"),
    "QUANTIZE": quantize,
    "RELU": unary("RELU"),
    "RELU6": unary("RELU6"),
    "RESHAPE": reshaping("RESHAPE"),
    "SOFTMAX": softmax,
    "SPLIT": split,
    "SQUEEZE": reshaping("SQUEEZE"),
    "STRIDED_SLICE": strided_slice,
    "SUB": binary("SUB"),
    "TANH": unary("TANH", 1 / 128, 0),
    "TRANSPOSE": transpose,
} | reductions.CASES
