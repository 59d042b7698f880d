"""Random models of one operator that adds products up; see `cases`."""

from collections.abc import Callable
from dataclasses import replace
from math import prod, sqrt

import numpy as np

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
    span,
    values,
)
from tests.support.kernels.windows import geometry
from usmp_build.ir import options as o
from usmp_build.ir.graph import DType, Quantization, Tensor
from usmp_build.operators.sums import BatchMatMul, Conv2D, DepthwiseConv2D, FullyConnected

TYPES = (INT8, INT8, INT16, FLOAT)


def image(r: Random, name: str, shape: tuple[int, ...], dtype: DType, scale: float) -> Tensor:
    """Return a tensor that is computed or given; int16 has no zero point."""
    return activation(name, shape, dtype, scale, 0 if dtype is INT16 else None, r)


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
    if dtype is INT16:
        bias = constant("bias", r.integers(-(2**23), 2**23, channels), unit)
    else:
        bias = constant("bias", r.integers(-20000, 20000, channels).astype(np.int32), unit)
    usual = sqrt(prod(shape) / channels) * r.uniform(10, 150)
    return weights, pick(r, [bias, bias, None]), float(unit.mean() * pick(r, [usual, usual, usual, r.uniform(0.2, 3)]))


def narrowed(bias: Tensor) -> Tensor:
    """Return biases of 32 bits, with which CONV_2D and FULLY_CONNECTED add up int16 in 32 bits, too."""
    return replace(bias, dtype=DType.INT32, data=bias.as_array().astype("<i4").tobytes())


def packed(r: Random, weights: Tensor) -> Tensor:
    """Return weights of int4, two to a byte, that are quantized as those of int8."""
    data = r.integers(-128, 128, (weights.elements + 1) // 2, np.int8).tobytes()
    return replace(weights, dtype=DType.INT4, data=data)


def perhaps_computed(r: Random, example: Case, weights: int = 1, bias: int = 2) -> Case:
    """At times have weights or biases arrive as inputs; what they were is what arrives."""
    graph, inputs = example.graph, example.inputs
    (op,) = graph.operators
    for position in (weights, bias):
        index = op.inputs[position] if position < len(op.inputs) else None
        if index is None or r.integers(6):
            continue
        tensor = graph.tensors[index]
        is_narrow = tensor.dtype is DType.INT32 and graph.tensors[op.outputs[0]].dtype is INT16
        if tensor.dtype not in {DType.INT4, DType.INT64} and not is_narrow:
            tensors = [*graph.tensors]
            tensors[index] = replace(tensor, data=None)
            graph = replace(graph, tensors=tuple(tensors), inputs=(*graph.inputs, index))
            inputs = (*inputs, tensor.as_array())
    return Case(graph, inputs)


def conv_2d(r: Random) -> Case:
    dtype = pick(r, TYPES)
    padding, size, kernel, numbers, result = geometry(r, 3)
    images, channels, outputs = span(r, 1, 2), pick(r, [1, 2, 3, 4, 8, 17, 32]), span(r, 1, 9)
    groups = pick(r, [1, 1, 1, 2, 3, 5])
    source = image(r, "x", (images, *size, channels * groups), dtype, r.uniform(0.001, 0.2))
    outputs *= groups
    shape = (outputs, *kernel, channels)
    weights, bias, scale = filters(r, shape, 0, dtype, source, bool(r.integers(2)))
    if dtype is INT16 and bias is not None and prod(shape[1:]) <= 256 and r.integers(3) == 0:
        bias = narrowed(bias)
    if dtype is INT8 and r.integers(4) == 0:
        weights, scale = packed(r, weights), scale / 16
    output = image(r, "y", (images, *result, outputs), dtype, scale)
    options = Conv2D(padding=padding, activation=pick(r, ACTIVATIONS), **numbers)
    return perhaps_computed(r, case(r, "CONV_2D", (source, weights, bias), output, options))


def depthwise_conv_2d(r: Random) -> Case:
    dtype = pick(r, TYPES)
    padding, size, kernel, numbers, result = geometry(r, 3)
    images, channels, multiplier = span(r, 1, 2), span(r, 1, 9), pick(r, [1, 1, 1, 2, 3, 4, 8])
    source = image(r, "x", (images, *size, channels), dtype, r.uniform(0.001, 0.2))
    shape = (1, *kernel, channels * multiplier)
    weights, bias, scale = filters(r, shape, 3, dtype, source, bool(r.integers(2)))
    while bias is None:  # TensorFlow Lite Micro crashes without one
        weights, bias, scale = filters(r, shape, 3, dtype, source, bool(r.integers(2)))
    if dtype is INT8 and r.integers(4) == 0:
        weights, scale = packed(r, weights), scale / 16
    output = image(r, "y", (images, *result, channels * multiplier), dtype, scale)
    options = DepthwiseConv2D(padding=padding, activation=pick(r, ACTIVATIONS), depth_multiplier=multiplier, **numbers)
    return perhaps_computed(r, case(r, "DEPTHWISE_CONV_2D", (source, weights, bias), output, options))


def fully_connected(r: Random) -> Case:
    dtype = pick(r, TYPES)
    batches, inputs, outputs = span(r, 1, 3), span(r, 1, 70), span(r, 1, 9)
    source = image(r, "x", (batches, inputs), dtype, r.uniform(0.001, 0.2))
    many = bool(r.integers(2)) and outputs > 1
    weights, bias, scale = filters(r, (outputs, inputs), 0, dtype, source, many)
    if dtype is INT8 and not many and r.integers(3) == 0:
        assert weights.quantization is not None
        q = Quantization(weights.quantization.scales, (span(r, -10, 10),))
        weights = Tensor(weights.name, weights.shape, INT8, q, weights.data)
    elif dtype is INT8 and not many and r.integers(4) == 0:
        weights, scale = packed(r, weights), scale / 16
    elif dtype is INT16 and bias is not None and r.integers(3) == 0:
        bias = narrowed(bias)
    output = image(r, "y", (batches, outputs), dtype, scale)
    options = FullyConnected(pick(r, ACTIVATIONS))
    return perhaps_computed(r, case(r, "FULLY_CONNECTED", (source, weights, bias), output, options))


def transpose_conv(r: Random) -> Case:
    dtype = pick(r, TYPES)
    size, kernel, strides = ((span(r, 1, most), span(r, 1, most)) for most in (5, 4, 3))
    padding = pick(r, list(o.Padding))
    whole = padding is o.Padding.SAME
    result = [
        span(r, stride * (each - 1) + 1, stride * each)
        if whole
        else stride * (each - 1) + taps + span(r, 0, stride - 1)
        for each, taps, stride in zip(size, kernel, strides, strict=True)
    ]
    images, channels, outputs = span(r, 1, 2), pick(r, [1, 2, 3, 8, 17]), span(r, 1, 9)
    source = image(r, "x", (images, *size, channels), dtype, r.uniform(0.001, 0.2))
    shape = (outputs, *kernel, channels)
    weights, bias, scale = filters(r, shape, 0, dtype, source, bool(r.integers(2)))
    output = image(r, "y", (images, *result, outputs), dtype, scale)
    form = constant("shape", np.array(output.shape, np.int32))
    options = Conv2D(padding, *strides, activation=pick(r, ACTIVATIONS))
    return perhaps_computed(r, case(r, "TRANSPOSE_CONV", (form, weights, source, bias), output, options), bias=3)


def batch_matmul(r: Random) -> Case:
    dtype = pick(r, [INT8, INT8, INT16, FLOAT])
    rows, depth, columns = span(r, 1, 6), pick(r, [1, 3, 8, 40]), span(r, 1, 9)
    outer = [span(r, 1, 3) for _ in range(span(r, 0, 3))]
    shapes = [[pick(r, [size, size, 1]) for size in outer][span(r, 0, len(outer)) :] for _ in range(2)]
    options = BatchMatMul(*(bool(r.integers(2)) for _ in range(2)))
    for shape, matrix, turned in zip(
        shapes, [[rows, depth], [depth, columns]], [options.adj_x, options.adj_y], strict=True
    ):
        shape += reversed(matrix) if turned else matrix
    named = zip("ab", shapes, strict=True)
    left, right = (image(r, name, tuple(shape), dtype, r.uniform(0.001, 0.2)) for name, shape in named)
    scale = 1.0
    if dtype is not FLOAT:
        assert left.quantization is not None
        assert right.quantization is not None
        unit = left.quantization.scales[0] * right.quantization.scales[0]
        scale = unit * sqrt(depth) * (2.0**14 if dtype is INT16 else 2.0**6) * r.uniform(0.1, 2)
    result = (*np.broadcast_shapes(*(tuple(shape[:-2]) for shape in shapes)), rows, columns)
    if r.integers(4) == 0:
        right = replace(right, data=values(r, right).tobytes())
    elif r.integers(4) == 0:
        left = replace(left, data=values(r, left).tobytes())
    return case(r, "BATCH_MATMUL", (left, right), image(r, "y", result, dtype, scale), options)


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


CASES: dict[str, Callable[[Random], Case]] = {
    "BATCH_MATMUL": batch_matmul,
    "CONV_2D": conv_2d,
    "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "FULLY_CONNECTED": fully_connected,
    "TRANSPOSE_CONV": transpose_conv,
}
