"""Random models of one operator, each with inputs: what the C and TensorFlow Lite Micro must agree on.

`CASES[kind]` makes one from a random generator; the same generator makes the same case.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from tests.support.kernels import cutting, gathering, rearranging, reductions, resizing, sums
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
from tests.support.kernels.windows import geometry
from usmp_build.ir.graph import DType
from usmp_build.operators.binary import Binary
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.reductions import Softmax
from usmp_build.operators.unary import LeakyRelu


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


CASES: dict[str, Callable[[Random], Case]] = (
    {
        "ADD": binary("ADD"),
        "AVERAGE_POOL_2D": pool_2d("AVERAGE_POOL_2D"),
        "CONCATENATION": concatenation,
        "DEQUANTIZE": dequantize,
        "EXPAND_DIMS": reshaping("EXPAND_DIMS"),
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
    }
    | cutting.CASES
    | gathering.CASES
    | rearranging.CASES
    | reductions.CASES
    | resizing.CASES
    | sums.CASES
)
