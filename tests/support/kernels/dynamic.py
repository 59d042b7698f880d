"""Operators of float32 with weights of int8 or int4, drawn at random, and what TensorFlow Lite makes of them.

TensorFlow Lite Micro has no such operators.  `expected` was compared with TensorFlow Lite's reference kernels.
"""

import itertools
import zlib
from dataclasses import replace
from math import floor

import numpy as np

from tests.support.kernels.drawing import FLOAT, INT8, Array, Case, Random, constant, pick, values
from tests.support.kernels.sums import CASES
from usmp_build.arithmetic.limits import REAL_LIMITS
from usmp_build.arithmetic.windows import reach, same_padding
from usmp_build.ir.graph import DType, Operator, Tensor
from usmp_build.ir.options import Activation, Padding
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D, FullyConnected

KINDS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV")

_WEIGHTS = 1
"""Their position."""
INT4 = DType.INT4


def dynamic(kind: str, count: int) -> list[Case]:
    """Draw the first cases of a kind: the same ones for everybody."""
    seeds = ([zlib.crc32(kind.encode()), 6, i] for i in itertools.count())
    drawn = (_as_float(CASES[kind](r), r) for seed in seeds for r in [np.random.default_rng(seed)])
    return [*itertools.islice((example for example in drawn if example is not None), count)]


def _as_float(example: Case, r: Random) -> Case | None:
    """Return a case of int8 with float32 in place of all but the weights; None if there is no such operator."""
    graph = example.graph
    if len(graph.inputs) > 1:
        return None
    tensors = list(graph.tensors)
    (given,), output = graph.inputs, len(tensors) - 1
    source, weights = tensors[given], tensors[_WEIGHTS]
    q = weights.quantization
    if source.dtype is not INT8 or weights.dtype not in {INT8, INT4} or q is None or any(q.zero_points):
        return None
    for index in (given, output):
        tensors[index] = replace(tensors[index], dtype=FLOAT, quantization=None)
    for index in range(max(given, _WEIGHTS) + 1, output):
        tensors[index] = constant("bias", r.normal(0, 1, tensors[index].elements).astype(np.float32))
    op = graph.operators[0]
    options = op.options
    if isinstance(options, FullyConnected):
        if options.activation in (Activation.TANH, Activation.SIGN_BIT):
            return None
        options = replace(options, asymmetric_quantize_inputs=bool(r.integers(2)))
    data = values(r, tensors[given]) * np.float32(pick(r, [1, 1, 1e-6, 1e6, 0])) + np.float32(pick(r, [0, 0, 5, -5]))
    return Case(replace(graph, tensors=tuple(tensors), operators=(replace(op, options=options),)), (data,))


def expected(example: Case) -> Array:
    """Compute the output, image by image, or batch by batch."""
    op, (data,) = example.graph.operators[0], example.inputs
    weights, output, options = example.graph.tensors[_WEIGHTS], example.graph.tensors[-1], op.options
    assert isinstance(options, Conv2D | DepthwiseConv2D | FullyConnected)
    assert weights.quantization is not None
    integers, scales = _integers(weights), np.array(weights.quantization.scales, np.float32)
    is_symmetric = op.kind == "CONV_2D" and len(scales) == 1
    if isinstance(options, FullyConnected):
        is_symmetric = not options.asymmetric_quantize_inputs
    biases = example.graph.tensors[max(example.graph.inputs[0], _WEIGHTS) + 1 : -1]
    bias = biases[0].as_array() if biases else np.float32(0)
    results = []
    for image in data:
        quantized, scale = quantize(image, is_symmetric)
        sums = _sums(op, quantized, integers, output)
        results.append(sums.astype(np.float32) * (scale * scales) + bias)
    low, high = REAL_LIMITS[options.activation]
    return np.clip(np.array(results, np.float32).reshape(output.shape), low, high)


def _integers(weights: Tensor) -> Array:
    """Return all weights; of two in a byte the first one is the lower."""
    if weights.dtype is INT8:
        return weights.as_array().astype(np.int64)
    both = np.frombuffer(weights.data or b"", np.uint8)[:, None]
    halves = np.concatenate([both & 15, both >> 4], axis=1).reshape(-1)[: weights.elements].astype(np.int64)
    return np.where(halves < 8, halves, halves - 16).reshape(weights.shape)


def quantize(image: Array, is_symmetric: bool) -> tuple[Array, np.float32]:
    """Return an image as integers, less their zero point, and their scale."""
    return _symmetric(image) if is_symmetric else _asymmetric(image)


def _symmetric(image: Array) -> tuple[Array, np.float32]:
    farthest = np.abs(image).max()
    if farthest == 0:
        return np.zeros(image.shape, np.int64), np.float32(1)
    return np.clip(_rounded(image * (np.float32(127) / farthest)), -127, 127), farthest / np.float32(127)


def _asymmetric(image: Array) -> tuple[Array, np.float32]:
    bottom, top = min(0.0, float(image.min())), max(0.0, float(image.max()))
    if bottom == top:
        return np.zeros(image.shape, np.int64), np.float32(1)
    scale = (top - bottom) / 255
    is_below = 128 - bottom / scale < 127 + top / scale
    zero_point = floor(min(127.0, max(-128.0, -128 - bottom / scale if is_below else 127 - top / scale)) + 0.5)
    single = np.float32(scale)
    steps = np.float32(zero_point) + image * (np.float32(1) / single)
    return np.clip(_rounded(steps), -128, 127) - zero_point, single


def _rounded(steps: Array) -> Array:
    """Round halves away from zero."""
    return np.copysign(np.floor(np.abs(steps) + 0.5), steps).astype(np.int64)


def _sums(op: Operator, image: Array, weights: Array, output: Tensor) -> Array:
    options = op.options
    if op.kind == "TRANSPOSE_CONV":
        return _spread(op, image, weights, output)
    if not isinstance(options, Conv2D | DepthwiseConv2D):
        return weights @ image
    strides, dilations = (options.stride_h, options.stride_w), (options.dilation_h, options.dilation_w)
    sizes, taps, result = image.shape[:2], weights.shape[1:3], output.shape[1:]
    before = [
        same_padding(size, reach(window, dilation), stride)[0] if options.padding is Padding.SAME else 0
        for size, window, dilation, stride in zip(sizes, taps, dilations, strides, strict=True)
    ]
    sums = np.zeros(result, np.int64)
    for y, x, i, j in itertools.product(*map(range, (*result[:2], *taps))):
        row, column = y * strides[0] - before[0] + i * dilations[0], x * strides[1] - before[1] + j * dilations[1]
        if not (0 <= row < sizes[0] and 0 <= column < sizes[1]):
            continue
        if isinstance(options, Conv2D):
            pixel = image[row, column].reshape(-1, weights.shape[3])
            filters = weights[:, i, j].reshape(len(pixel), -1, weights.shape[3])
            sums[y, x] += np.einsum("gfc,gc->gf", filters, pixel).ravel()
        else:
            sums[y, x] += weights[0, i, j] * np.repeat(image[row, column], result[2] // image.shape[2])
    return sums


def _spread(op: Operator, image: Array, weights: Array, output: Tensor) -> Array:
    """Add each pixel to the window of outputs that it reaches."""
    options = op.options
    assert isinstance(options, Conv2D)
    (height, width, channels), strides = output.shape[1:], (options.stride_h, options.stride_w)
    is_same = options.padding is Padding.SAME
    before = [
        same_padding(size, window, stride)[0] if is_same else 0
        for size, window, stride in zip((height, width), weights.shape[1:3], strides, strict=True)
    ]
    sums = np.zeros((height, width, channels), np.int64)
    for y, x, i, j in itertools.product(*map(range, (*image.shape[:2], *weights.shape[1:3]))):
        row, column = y * strides[0] - before[0] + i, x * strides[1] - before[1] + j
        if 0 <= row < height and 0 <= column < width:
            sums[row, column] += weights[:, i, j] @ image[y, x]
    return sums
