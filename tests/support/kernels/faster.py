"""Random models of one operator for kernels that need certain instructions; see `cases`."""

import functools
import itertools
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from tests.support.kernels.drawing import ACTIVATIONS, INT8, INT16, Case, Random, case, constant, pick, span
from tests.support.kernels.sums import filters, image
from tests.support.kernels.windows import geometry
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Padding
from usmp_build.kernels.reference import Reference
from usmp_build.operators.binary import Binary
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D, FullyConnected
from usmp_build.request import Isa


def filters_of(r: Random, shape: tuple[int, ...], axis: int, source: Tensor) -> tuple[Tensor, Tensor | None, float]:
    """Draw weights, now and then the ends of their range alone, perhaps a bias, and a scale that suits the output."""
    weights, bias, scale = filters(r, shape, axis, source.dtype, source, bool(r.integers(2)))
    if r.integers(4) == 0:
        ends = r.choice(np.array([-128 if source.dtype is INT8 else -127, 127], np.int8), shape)
        weights = replace(weights, data=ends.tobytes())
    return weights, bias, scale


def outputs_of(r: Random) -> int:
    """Draw up to 20 outputs, often one or two."""
    return span(r, 1, pick(r, [2, 20, 20]))


def conv_2d(r: Random, dtype: DType = INT8) -> Case:
    """Up to 64 channels, with windows up to 7x7; where they are large, few channels."""
    most_taps = pick(r, [1, 3, 4, 7])
    padding, size, kernel, numbers, result = geometry(r, 3, most_taps, 12)
    few = [1, 3, 3, 5] if dtype is INT8 else [1, 1, 1, 3]
    channels, outputs = pick(r, few if most_taps == 7 else [1, 2, 3, 4, 5, 8, 16, 17, 33, 64]), outputs_of(r)
    source = image(r, "x", (span(r, 1, 2), *size, channels), dtype, r.uniform(0.001, 0.2))
    weights, bias, scale = filters_of(r, (outputs, *kernel, channels), 0, source)
    output = image(r, "y", (source.shape[0], *result, outputs), dtype, scale)
    options = Conv2D(padding=padding, activation=pick(r, ACTIVATIONS), **numbers)
    return case(r, "CONV_2D", (source, weights, bias), output, options)


def depthwise_conv_2d(r: Random, dtype: DType = INT8) -> Case:
    """Up to 40 channels, with windows up to 5x5; up to 3 channels may have several filters each."""
    padding, size, kernel, numbers, result = geometry(r, 3, pick(r, [3, 5]), 12)
    channels = pick(r, [1, 3, 4, 7, 8, 16, 17, 24, 40])
    each = span(r, 1, 9) if channels in (1, 3) else 1
    source = image(r, "x", (span(r, 1, 2), *size, channels), dtype, r.uniform(0.001, 0.2))
    bias = None
    while bias is None:  # TensorFlow Lite Micro crashes without one
        weights, bias, scale = filters_of(r, (1, *kernel, channels * each), 3, source)
    output = image(r, "y", (source.shape[0], *result, channels * each), dtype, scale)
    options = DepthwiseConv2D(padding=padding, activation=pick(r, ACTIVATIONS), depth_multiplier=each, **numbers)
    return case(r, "DEPTHWISE_CONV_2D", (source, weights, bias), output, options)


def fully_connected(r: Random, dtype: DType = INT8) -> Case:
    """Up to 200 inputs, or so many that their sums take more than 24 bits, or more than 32; at times, biases do."""
    batches, inputs, outputs = span(r, 1, 3), span(r, 1, pick(r, [200, 200, 200, 2000])), outputs_of(r)
    source = image(r, "x", (batches, inputs), dtype, r.uniform(0.001, 0.2))
    weights, bias, scale = filters_of(r, (outputs, inputs), 0, source)
    if bias is not None and dtype is INT8 and r.integers(5) == 0:
        bias, scale = replace(bias, data=(bias.as_array() * np.int32(1 << 10)).tobytes()), scale * 256
    output = image(r, "y", (batches, outputs), dtype, scale)
    return case(r, "FULLY_CONNECTED", (source, weights, bias), output, FullyConnected(pick(r, ACTIVATIONS)))


def transpose_conv(r: Random) -> Case:
    """Up to 33 channels, with windows up to 5x5 and strides up to 3."""
    size, kernel = ((span(r, 1, most), span(r, 1, most)) for most in (6, 5))
    strides = span(r, 1, min(3, kernel[0])), span(r, 1, min(3, kernel[1]))
    padding = pick(r, [Padding.SAME, Padding.VALID])
    result = [
        stride * each if padding is Padding.SAME else stride * (each - 1) + taps
        for each, taps, stride in zip(size, kernel, strides, strict=True)
    ]
    channels, outputs = pick(r, [4, 5, 8, 16, 33]), outputs_of(r)
    source = image(r, "x", (span(r, 1, 2), *size, channels), INT8, r.uniform(0.001, 0.2))
    weights, bias, scale = filters_of(r, (outputs, *kernel, channels), 0, source)
    output = image(r, "y", (source.shape[0], *result, outputs), INT8, scale)
    form = constant("shape", np.array(output.shape, np.int32))
    options = Conv2D(padding, *strides, activation=pick(r, ACTIVATIONS))
    return case(r, "TRANSPOSE_CONV", (form, weights, source, bias), output, options)


def add_or_subtract(kind: str) -> Callable[[Random], Case]:
    """Up to 40 elements; often both operands have the same scale."""

    def make(r: Random) -> Case:
        shape, scales = (span(r, 1, 8), span(r, 1, 5)), [r.uniform(0.001, 0.2), r.uniform(0.001, 0.2)]
        scales = [scales[0], pick(r, scales)]
        first, second = (image(r, name, shape, INT8, scale) for name, scale in zip("ab", scales, strict=True))
        output = image(r, "y", shape, INT8, sum(scales) * r.uniform(0.3, 1.5))
        return case(r, kind, (first, second), output, Binary(pick(r, ACTIVATIONS)))

    return make


def multiply(r: Random) -> Case:
    """Up to 400 elements; one operand may be stretched along one axis or all but one, or both along different ones."""
    shape = tuple(span(r, 1, most) for most in (3, 4, 33))
    shapes = pick(r, [(shape, shape), (shape, shape[-1:]), (shape[-1:], shape), (shape, (*shape[:-1], 1))])
    if r.integers(4) == 0:
        shapes = (*shape[:-1], 1), (1, *shape[1:])
    first, second = (image(r, name, each, INT8, 0.05) for name, each in zip("ab", shapes, strict=True))
    output = image(r, "y", np.broadcast_shapes(*shapes), INT8, 0.05 * r.uniform(0.2, 3))
    return case(r, "MUL", (first, second), output, Binary(pick(r, ACTIVATIONS)))


def pool_2d(kind: str, dtype: DType = INT8) -> Callable[[Random], Case]:
    """Up to 40 channels, with windows up to 4x4, and at times 16x16."""

    def make(r: Random) -> Case:
        padding, size, kernel, numbers, result = geometry(r, 1, pick(r, [4, 4, 16]), 18)
        channels = span(r, 1, 40)
        source = image(r, "x", (span(r, 1, 2), *size, channels), dtype, 0.05)
        output = replace(source, name="y", shape=(source.shape[0], *result, channels))
        strides = {name: value for name, value in numbers.items() if name.startswith("stride")}
        options = Pool2D(padding, filter_h=kernel[0], filter_w=kernel[1], activation=pick(r, ACTIVATIONS), **strides)
        return case(r, kind, (source,), output, options)

    return make


CASES: Mapping[str, Callable[[Random], Case]] = {
    "ADD": add_or_subtract("ADD"),
    "AVERAGE_POOL_2D": pool_2d("AVERAGE_POOL_2D"),
    "CONV_2D": conv_2d,
    "CONV_2D_S16": partial(conv_2d, dtype=INT16),
    "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "DEPTHWISE_CONV_2D_S16": partial(depthwise_conv_2d, dtype=INT16),
    "FULLY_CONNECTED": fully_connected,
    "FULLY_CONNECTED_S16": partial(fully_connected, dtype=INT16),
    "MAX_POOL_2D": pool_2d("MAX_POOL_2D"),
    "MAX_POOL_2D_S16": pool_2d("MAX_POOL_2D", INT16),
    "MUL": multiply,
    "SUB": add_or_subtract("SUB"),
    "TRANSPOSE_CONV": transpose_conv,
}
ISAS: Mapping[Isa, tuple[str, ...]] = {
    Isa.DSP: tuple(kind for kind in CASES if kind not in {"ADD", "SUB", "MUL"}),
    Isa.MVE: tuple(kind for kind in CASES if "_S16" not in kind and kind != "TRANSPOSE_CONV"),
    Isa.SCALAR: ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV"),
}
"""The kinds of operators that have kernels for the instructions of a target."""

LAYERS = "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"


@functools.cache
def faster(isa: Isa, kind: str, count: int) -> list[tuple[Case, Kernel]]:
    """Draw cases, the same for everybody, that are not left to slower instructions, as at least a third are."""
    return [*itertools.islice(_faster(isa, kind, 3 * count), count)]


def is_steep(case: Case) -> bool:
    """Return whether it is a layer that scales an output by 1/2 or more."""
    (operator,), tensors = case.graph.operators, case.graph.tensors
    if operator.kind not in LAYERS:
        return False
    quantized = (tensors[i or 0].quantization for i in (*operator.inputs[:2], *operator.outputs))
    source, weights, output = (each.scales for each in quantized if each is not None)
    return source[0] * max(weights) / output[0] >= 0.5


def _faster(isa: Isa, kind: str, most: int) -> Iterator[tuple[Case, Kernel]]:
    for number in range(most):
        example = CASES[kind](np.random.default_rng([6, zlib.crc32(kind.encode()), number]))
        kernel = Reference(isa).kernel(example.graph.operators[0], example.graph)
        assert isinstance(kernel, Kernel), kernel
        if not kernel.declined:
            yield example, kernel
