"""A net that grows operator by operator, and becomes a .tflite file: int8, weights drawn at random.

Nobody trained them, so their quantization is made to fit: values deviate from their zero points by about `_TYPICAL`
steps, and a layer's weights have the scale that makes its results do so, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt

import numpy as np

from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write

SCALE = 0.05
_TYPICAL = 50
"""Root mean square of what an int8 value is from its zero point."""
_WEIGHT = 73.3
"""That of a weight: uniform from -127 to 127."""
LINEAR, RELU, RELU6 = 0, 1, 3
"""Activations, and paddings, as .tflite files number them."""
SAME, VALID = 0, 1
_ZERO = {LINEAR: -3, RELU: -128, RELU6: -128}
"""Zero points of results, by activation: what is never negative has the whole range for the rest."""

Filter = tuple[int, int]


@dataclass(frozen=True)
class Value:
    """A tensor of the net."""

    index: int
    shape: tuple[int, ...]
    scale: float = SCALE
    zero: int = -3


class Net:
    """A main subgraph that grows."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._tensors: list[Node] = []
        self._operators: list[Node] = []
        self._data: list[bytes] = []
        self._inputs: list[int] = []

    def input(self, *shape: int, scale: float = SCALE, zero: int = -3) -> Value:
        """Add an input of batch size one."""
        value = self._value((1, *shape), scale, zero)
        self._inputs.append(value.index)
        return value

    def conv(
        self,
        x: Value,
        channels: int,
        size: Filter = (1, 1),
        act: int = RELU,
        stride: int = 1,
        pad: int = SAME,
        dead: int = 0,
        dilation: int = 1,
    ) -> Value:
        """Add CONV_2D; the last `dead` channels are constant, whatever the input."""
        taps = prod(size) * x.shape[3]
        filters = self._random.integers(-127, 128, (channels, *size, x.shape[3]), np.int8)
        options = Node(
            "Conv2DOptions", Padding=pad, StrideW=stride, StrideH=stride, FusedActivationFunction=act,
            DilationWFactor=dilation, DilationHFactor=dilation,
        )  # fmt: skip
        shape = (*_windows(x.shape, _dilated(size, dilation), stride, pad), channels)
        return self._layer("CONV_2D", x, filters, (0, taps, dead), options, (shape, act))

    def depthwise(
        self, x: Value, size: Filter, act: int = RELU, stride: int = 1, pad: int = SAME, dilation: int = 1
    ) -> Value:
        """Add DEPTHWISE_CONV_2D."""
        filters = self._random.integers(-127, 128, (1, *size, x.shape[3]), np.int8)
        options = Node(
            "DepthwiseConv2DOptions", Padding=pad, StrideW=stride, StrideH=stride, DepthMultiplier=1,
            FusedActivationFunction=act, DilationWFactor=dilation, DilationHFactor=dilation,
        )  # fmt: skip
        shape = (*_windows(x.shape, _dilated(size, dilation), stride, pad), x.shape[3])
        return self._layer("DEPTHWISE_CONV_2D", x, filters, (3, prod(size), 0), options, (shape, act))

    def widen(self, x: Value, channels: int, size: Filter, strides: Filter) -> Value:
        """Add TRANSPOSE_CONV: each pixel reaches a window of outputs, which are `strides` times as many."""
        filters = self._random.integers(-127, 128, (channels, *size, x.shape[3]), np.int8)
        options = Node("TransposeConvOptions", Padding=SAME, StrideH=strides[0], StrideW=strides[1])
        shape = (1, x.shape[1] * strides[0], x.shape[2] * strides[1], channels)
        wanted = self._constant(np.array(shape, np.int32))
        plan = 0, max(1, prod(size) // prod(strides)) * x.shape[3], 0
        return self._layer("TRANSPOSE_CONV", x, filters, plan, options, (shape, LINEAR), form=(wanted,))

    def dense(self, x: Value, channels: int, act: int = RELU) -> Value:
        """Add FULLY_CONNECTED."""
        count = prod(x.shape)
        filters = self._random.integers(-127, 128, (channels, count), np.int8)
        options = Node("FullyConnectedOptions", FusedActivationFunction=act)
        return self._layer("FULLY_CONNECTED", x, filters, (0, count, 0), options, ((1, channels), act), one_scale=True)

    def _layer(
        self,
        kind: str,
        x: Value,
        filters: np.ndarray,
        plan: tuple[int, int, int],
        options: Node,
        result: tuple[tuple[int, ...], int],
        one_scale: bool = False,
        form: tuple[int, ...] = (),
    ) -> Value:
        axis, taps, dead = plan
        shape, act = result
        channels = shape[-1]
        reach = sqrt(taps) * _WEIGHT * _TYPICAL
        spread = self._random.uniform(0.7, 1.3, 1 if one_scale else channels)
        scales = spread * SCALE * _TYPICAL / (reach * x.scale)
        biases = self._random.uniform(-reach / 2, reach / 2, channels).astype(np.int32)
        if dead:
            biases[-dead:] = -taps * 127 * 255
        weights = self._constant(filters, quantization(list(scales), [0] * len(scales), axis))
        bias = self._constant(biases, quantization(list(scales * x.scale), [0] * len(scales)))
        output = self._value(shape, SCALE, _ZERO[act])
        self._run(kind, [*form, weights, x.index, bias] if form else [x.index, weights, bias], output, options)
        return output

    def pool(self, kind: str, x: Value, size: Filter, stride: Filter | None = None, pad: int = VALID) -> Value:
        """Add MAX_POOL_2D or AVERAGE_POOL_2D; without `stride` windows stand side by side."""
        down, right = stride or size
        options = Node(
            "Pool2DOptions", Padding=pad, StrideH=down, StrideW=right, FilterHeight=size[0], FilterWidth=size[1]
        )
        rows, columns = (
            -(-length // step) if pad == SAME else (length - window) // step + 1
            for length, window, step in zip(x.shape[1:3], size, (down, right), strict=True)
        )
        output = self._value((1, rows, columns, x.shape[3]), x.scale, x.zero)
        self._run(kind, [x.index], output, options)
        return output

    def add(self, a: Value, b: Value, act: int = LINEAR, scale: float = SCALE * 1.4) -> Value:
        """Add ADD."""
        output = self._value(a.shape, scale, _ZERO[act])
        self._run("ADD", [a.index, b.index], output, Node("AddOptions", FusedActivationFunction=act))
        return output

    def concat(self, *values: Value, axis: int = 3) -> Value:
        """Add CONCATENATION of values with one quantization."""
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        output = self._value(tuple(shape), values[0].scale, values[0].zero)
        assert {(value.scale, value.zero) for value in values} == {(output.scale, output.zero)}
        self._run("CONCATENATION", [value.index for value in values], output, Node("ConcatenationOptions", Axis=axis))
        return output

    def split(self, x: Value, count: int, axis: int = 3) -> list[Value]:
        """Add SPLIT into parts of one length."""
        shape = list(x.shape)
        shape[axis] //= count
        output = [self._value(tuple(shape), x.scale, x.zero) for _ in range(count)]
        inputs = [self._constant(np.array(axis, np.int32)), x.index]
        options = Node("SplitOptions", NumSplits=count)
        self._operators.append(operator("SPLIT", inputs, [part.index for part in output], options))
        return output

    def slice(self, x: Value, start: int, stop: int, axis: int = 3) -> Value:
        """Add STRIDED_SLICE along one axis."""
        first, behind = [0, 0, 0, 0], list(x.shape)
        first[axis], behind[axis] = start, stop
        limits = [self._constant(np.array(each, np.int32)) for each in (first, behind, [1, 1, 1, 1])]
        shape = tuple(high - low for low, high in zip(first, behind, strict=True))
        output = self._value(shape, x.scale, x.zero)
        self._run("STRIDED_SLICE", [x.index, *limits], output, Node("StridedSliceOptions"))
        return output

    def reshape(self, x: Value, *shape: int) -> Value:
        """Add RESHAPE."""
        output = self._value(shape, x.scale, x.zero)
        wanted = self._constant(np.array(shape, np.int32))
        self._run("RESHAPE", [x.index, wanted], output, Node("ReshapeOptions", NewShape=list(shape)))
        return output

    def image(self, height: int, width: int, channels: int) -> Value:
        """Add an input that is a channels-first picture, and the TRANSPOSE to one with channels last."""
        return self.transpose(self.input(channels, height, width), 0, 2, 3, 1)

    def transpose(self, x: Value, *order: int) -> Value:
        """Add TRANSPOSE."""
        axes = self._constant(np.array(order, np.int32))
        output = self._value(tuple(x.shape[axis] for axis in order), x.scale, x.zero)
        self._run("TRANSPOSE", [x.index, axes], output, Node("TransposeOptions"))
        return output

    def pad(self, x: Value, before: int, behind: int, axes: Sequence[int] = (1, 2)) -> Value:
        """Add PAD around the image."""
        frames = [(before, behind) if axis in axes else (0, 0) for axis in range(4)]
        sizes = self._constant(np.array(frames, np.int32))
        shape = tuple(length + sum(frame) for length, frame in zip(x.shape, frames, strict=True))
        output = self._value(shape, x.scale, x.zero)
        self._run("PAD", [x.index, sizes], output, Node("PadOptions"))
        return output

    def resize(self, x: Value, rows: int, columns: int) -> Value:
        """Add RESIZE_NEAREST_NEIGHBOR."""
        sizes = self._constant(np.array([rows, columns], np.int32))
        output = self._value((1, rows, columns, x.shape[3]), x.scale, x.zero)
        self._run("RESIZE_NEAREST_NEIGHBOR", [x.index, sizes], output, Node("ResizeNearestNeighborOptions"))
        return output

    def mean(self, x: Value, axis: int) -> Value:
        """Add MEAN along an axis that stays, of one index."""
        axes = self._constant(np.array([axis], np.int32))
        shape = tuple(1 if at == axis else length for at, length in enumerate(x.shape))
        output = self._value(shape, x.scale, x.zero)
        self._run("MEAN", [x.index, axes], output, Node("ReducerOptions", KeepDims=True))
        return output

    def products(self, x: Value, y: Value) -> Value:
        """Add BATCH_MATMUL: of each image row, all pixels of `x` with all of `y`."""
        return self.matmul(x, y, turned=True)

    def matmul(self, x: Value, y: Value, turned: bool = False) -> Value:
        """Add BATCH_MATMUL; the right side may be stored by columns."""
        output = self._value((*x.shape[:3], y.shape[2 if turned else 3]), 20 * x.scale, x.zero)
        self._run("BATCH_MATMUL", [x.index, y.index], output, Node("BatchMatMulOptions", AdjY=turned))
        return output

    def softmax(self, x: Value) -> Value:
        """Add SOFTMAX."""
        output = self._value(x.shape, 1 / 256, -128)
        self._run("SOFTMAX", [x.index], output, Node("SoftmaxOptions", Beta=1.0))
        return output

    def attention(self, x: Value, heads: int, turned: bool = False, scaled: str = "scores") -> Value:
        """Add what tokens [1, tokens, 1, channels] make of each other.

        Keys are `turned` by their product, or else by a TRANSPOSE; `queries` or `scores` are scaled, also those of
        "heads", behind their TRANSPOSE.
        """
        _, tokens, _, channels = x.shape
        shape = 1, tokens, heads, channels // heads
        queries, keys, values = (self.reshape(self.conv(x, channels, act=LINEAR), *shape) for _ in range(3))
        queries = self.transpose(self._scaled(queries, scaled == "queries"), 0, 2, 1, 3)
        keys = self.transpose(keys, *((0, 2, 1, 3) if turned else (0, 2, 3, 1)))
        scores = self.matmul(self._scaled(queries, scaled == "heads"), keys, turned)
        weights = self.softmax(self._scaled(scores, scaled == "scores"))
        mixed = self.transpose(self.matmul(weights, self.transpose(values, 0, 2, 1, 3)), 0, 2, 1, 3)
        return self.add(x, self.conv(self.reshape(mixed, *x.shape), channels, act=LINEAR))

    def _scaled(self, x: Value, is_scaled: bool) -> Value:
        if not is_scaled:
            return x
        output = self._value(x.shape, x.scale / 2, x.zero)
        factor = self.constant(np.array([7], np.int8))
        self._run("MUL", [x.index, factor.index], output, Node("MulOptions"))
        return output

    def relu(self, x: Value) -> Value:
        """Add RELU with the quantization of its input."""
        output = self._value(x.shape, x.scale, x.zero)
        self._run("RELU", [x.index], output)
        return output

    def sigmoid(self, x: Value) -> Value:
        """Add LOGISTIC."""
        output = self._value(x.shape, 1 / 256, -128)
        self._run("LOGISTIC", [x.index], output)
        return output

    def scores(self, x: Value, classes: int) -> Value:
        """Add MEAN over the image, FULLY_CONNECTED and SOFTMAX."""
        mean = self._value((1, x.shape[3]), x.scale, x.zero)
        axes = self._constant(np.array([1, 2], np.int32))
        self._run("MEAN", [x.index, axes], mean, Node("ReducerOptions", KeepDims=False))
        return self.softmax(self.dense(mean, classes, LINEAR))

    def upsample(self, x: Value) -> Value:
        """Double rows and columns, each pixel four times: CONCATENATION with itself, and RESHAPE."""
        _, rows, columns, channels = x.shape
        wide = self.reshape(self.concat(x, x), 1, rows, 1, 2 * columns * channels)
        return self.reshape(self.concat(wide, wide), 1, 2 * rows, 2 * columns, channels)

    def file(self, *outputs: Value) -> bytes:
        """Return the .tflite file."""
        graph = subgraph(self._tensors, self._operators, self._inputs, [output.index for output in outputs])
        return write(model(graph, data=self._data))

    def _run(self, kind: str, inputs: Sequence[int], output: Value, options: Node | None = None) -> None:
        self._operators.append(operator(kind, inputs, [output.index], options))

    def _value(self, shape: tuple[int, ...], scale: float, zero: int) -> Value:
        self._tensors.append(tensor(f"t{len(self._tensors)}", shape, Quantization=quantization([scale], [zero])))
        return Value(len(self._tensors) - 1, shape, scale, zero)

    def constant(self, values: np.ndarray) -> Value:
        """Add a constant."""
        return Value(self._constant(values, quantization([SCALE], [0])), values.shape, SCALE, 0)

    def _constant(self, values: np.ndarray, scales: Node | None = None) -> int:
        self._data.append(values.tobytes())
        fields = {"Quantization": scales} if scales else {}
        name, kind = f"c{len(self._tensors)}", values.dtype.name.upper()
        self._tensors.append(tensor(name, values.shape, kind, Buffer=len(self._data), **fields))
        return len(self._tensors) - 1


def _dilated(size: Filter, dilation: int) -> Filter:
    """Return the height and width that a window covers."""
    return (size[0] - 1) * dilation + 1, (size[1] - 1) * dilation + 1


def _windows(shape: tuple[int, ...], size: Filter, stride: int, pad: int) -> tuple[int, ...]:
    """Return batch, rows and columns of what a convolution makes."""
    lengths = zip(shape[1:3], size, strict=True)
    if pad == SAME:
        return 1, *(-(-length // stride) for length, _ in lengths)
    return 1, *((length - window) // stride + 1 for length, window in lengths)
