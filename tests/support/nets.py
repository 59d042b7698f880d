"""Nets of the kinds that small devices run, written as .tflite files: int8, weights drawn at random.

Nobody trained them, so their quantization is made to fit: values deviate from their zero points by about `_TYPICAL`
steps, and a layer's weights have the scale that makes its results do so, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod, sqrt

import numpy as np

from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write

_SCALE = 0.05
_TYPICAL = 50
"""Root mean square of what an int8 value is from its zero point."""
_WEIGHT = 73.3
"""That of a weight: uniform from -127 to 127."""
_LINEAR, _RELU, _RELU6 = 0, 1, 3
_SAME, _VALID = 0, 1
_ZERO = {_LINEAR: -3, _RELU: -128, _RELU6: -128}
"""Zero points of results, by activation: what is never negative has the whole range for the rest."""

Filter = tuple[int, int]


@dataclass(frozen=True)
class Value:
    """A tensor of the net."""

    index: int
    shape: tuple[int, ...]
    scale: float = _SCALE
    zero: int = -3


class Net:
    """A main subgraph that grows."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._tensors: list[Node] = []
        self._operators: list[Node] = []
        self._data: list[bytes] = []
        self._inputs: list[int] = []

    def input(self, *shape: int) -> Value:
        """Add an input of batch size one."""
        value = self._value((1, *shape), _SCALE, -3)
        self._inputs.append(value.index)
        return value

    def conv(
        self,
        x: Value,
        channels: int,
        size: Filter = (1, 1),
        act: int = _RELU,
        stride: int = 1,
        pad: int = _SAME,
        dead: int = 0,
    ) -> Value:
        """Add CONV_2D; the last `dead` channels are constant, whatever the input."""
        taps = prod(size) * x.shape[3]
        filters = self._random.integers(-127, 128, (channels, *size, x.shape[3]), np.int8)
        options = Node("Conv2DOptions", Padding=pad, StrideW=stride, StrideH=stride, FusedActivationFunction=act)
        shape = (*_windows(x.shape, size, stride, pad), channels)
        return self._layer("CONV_2D", x, filters, (0, taps, dead), options, (shape, act))

    def depthwise(self, x: Value, size: Filter, act: int = _RELU, stride: int = 1, pad: int = _SAME) -> Value:
        """Add DEPTHWISE_CONV_2D."""
        filters = self._random.integers(-127, 128, (1, *size, x.shape[3]), np.int8)
        options = Node(
            "DepthwiseConv2DOptions", Padding=pad, StrideW=stride, StrideH=stride, DepthMultiplier=1,
            FusedActivationFunction=act,
        )  # fmt: skip
        shape = (*_windows(x.shape, size, stride, pad), x.shape[3])
        return self._layer("DEPTHWISE_CONV_2D", x, filters, (3, prod(size), 0), options, (shape, act))

    def dense(self, x: Value, channels: int, act: int = _RELU) -> Value:
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
    ) -> Value:
        axis, taps, dead = plan
        shape, act = result
        channels = shape[-1]
        reach = sqrt(taps) * _WEIGHT * _TYPICAL
        spread = self._random.uniform(0.7, 1.3, 1 if one_scale else channels)
        scales = spread * _SCALE * _TYPICAL / (reach * x.scale)
        biases = self._random.uniform(-reach / 2, reach / 2, channels).astype(np.int32)
        if dead:
            biases[-dead:] = -taps * 127 * 255
        weights = self._constant(filters, quantization(list(scales), [0] * len(scales), axis))
        bias = self._constant(biases, quantization(list(scales * x.scale), [0] * len(scales)))
        made = self._value(shape, _SCALE, _ZERO[act])
        self._run(kind, [x.index, weights, bias], made, options)
        return made

    def pool(self, kind: str, x: Value, size: Filter, stride: Filter | None = None, pad: int = _VALID) -> Value:
        """Add MAX_POOL_2D or AVERAGE_POOL_2D; without `stride` windows stand side by side."""
        down, right = stride or size
        options = Node(
            "Pool2DOptions", Padding=pad, StrideH=down, StrideW=right, FilterHeight=size[0], FilterWidth=size[1]
        )
        rows, columns = (
            -(-length // step) if pad == _SAME else (length - window) // step + 1
            for length, window, step in zip(x.shape[1:3], size, (down, right), strict=True)
        )
        made = self._value((1, rows, columns, x.shape[3]), x.scale, x.zero)
        self._run(kind, [x.index], made, options)
        return made

    def add(self, a: Value, b: Value, act: int = _LINEAR) -> Value:
        """Add ADD."""
        made = self._value(a.shape, _SCALE * 1.4, _ZERO[act])
        self._run("ADD", [a.index, b.index], made, Node("AddOptions", FusedActivationFunction=act))
        return made

    def concat(self, *values: Value, axis: int = 3) -> Value:
        """Add CONCATENATION of values with one quantization."""
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        made = self._value(tuple(shape), values[0].scale, values[0].zero)
        assert {(value.scale, value.zero) for value in values} == {(made.scale, made.zero)}
        self._run("CONCATENATION", [value.index for value in values], made, Node("ConcatenationOptions", Axis=axis))
        return made

    def split(self, x: Value, count: int, axis: int = 3) -> list[Value]:
        """Add SPLIT into parts of one length."""
        shape = list(x.shape)
        shape[axis] //= count
        made = [self._value(tuple(shape), x.scale, x.zero) for _ in range(count)]
        inputs = [self._constant(np.array(axis, np.int32)), x.index]
        options = Node("SplitOptions", NumSplits=count)
        self._operators.append(operator("SPLIT", inputs, [part.index for part in made], options))
        return made

    def slice(self, x: Value, start: int, stop: int, axis: int = 3) -> Value:
        """Add STRIDED_SLICE along one axis."""
        first, behind = [0, 0, 0, 0], list(x.shape)
        first[axis], behind[axis] = start, stop
        limits = [self._constant(np.array(each, np.int32)) for each in (first, behind, [1, 1, 1, 1])]
        shape = tuple(high - low for low, high in zip(first, behind, strict=True))
        made = self._value(shape, x.scale, x.zero)
        self._run("STRIDED_SLICE", [x.index, *limits], made, Node("StridedSliceOptions"))
        return made

    def reshape(self, x: Value, *shape: int) -> Value:
        """Add RESHAPE."""
        made = self._value(shape, x.scale, x.zero)
        wanted = self._constant(np.array(shape, np.int32))
        self._run("RESHAPE", [x.index, wanted], made, Node("ReshapeOptions", NewShape=list(shape)))
        return made

    def pad(self, x: Value, before: int, behind: int) -> Value:
        """Add PAD around the image."""
        sizes = self._constant(np.array([[0, 0], [before, behind], [before, behind], [0, 0]], np.int32))
        rows, columns = (length + before + behind for length in x.shape[1:3])
        made = self._value((1, rows, columns, x.shape[3]), x.scale, x.zero)
        self._run("PAD", [x.index, sizes], made, Node("PadOptions"))
        return made

    def relu(self, x: Value) -> Value:
        """Add RELU with the quantization of its input."""
        made = self._value(x.shape, x.scale, x.zero)
        self._run("RELU", [x.index], made)
        return made

    def sigmoid(self, x: Value) -> Value:
        """Add LOGISTIC."""
        made = self._value(x.shape, 1 / 256, -128)
        self._run("LOGISTIC", [x.index], made)
        return made

    def scores(self, x: Value, classes: int) -> Value:
        """Add MEAN over the image, FULLY_CONNECTED and SOFTMAX."""
        mean = self._value((1, x.shape[3]), x.scale, x.zero)
        axes = self._constant(np.array([1, 2], np.int32))
        self._run("MEAN", [x.index, axes], mean, Node("ReducerOptions", KeepDims=False))
        made = self._value((1, classes), 1 / 256, -128)
        self._run("SOFTMAX", [self.dense(mean, classes, _LINEAR).index], made, Node("SoftmaxOptions", Beta=1.0))
        return made

    def upsample(self, x: Value) -> Value:
        """Double rows and columns, each pixel four times: CONCATENATION with itself, and RESHAPE."""
        _, rows, columns, channels = x.shape
        wide = self.reshape(self.concat(x, x), 1, rows, 1, 2 * columns * channels)
        return self.reshape(self.concat(wide, wide), 1, 2 * rows, 2 * columns, channels)

    def file(self, *outputs: Value) -> bytes:
        """Return the .tflite file."""
        graph = subgraph(self._tensors, self._operators, self._inputs, [output.index for output in outputs])
        return write(model(graph, data=self._data))

    def _run(self, kind: str, inputs: Sequence[int], made: Value, options: Node | None = None) -> None:
        self._operators.append(operator(kind, inputs, [made.index], options))

    def _value(self, shape: tuple[int, ...], scale: float, zero: int) -> Value:
        self._tensors.append(tensor(f"t{len(self._tensors)}", shape, Quantization=quantization([scale], [zero])))
        return Value(len(self._tensors) - 1, shape, scale, zero)

    def _constant(self, values: np.ndarray, scales: Node | None = None) -> int:
        self._data.append(values.tobytes())
        fields = {"Quantization": scales} if scales else {}
        name, kind = f"c{len(self._tensors)}", values.dtype.name.upper()
        self._tensors.append(tensor(name, values.shape, kind, Buffer=len(self._data), **fields))
        return len(self._tensors) - 1


def _windows(shape: tuple[int, ...], size: Filter, stride: int, pad: int) -> tuple[int, ...]:
    """Return batch, rows and columns of what a convolution makes."""
    lengths = zip(shape[1:3], size, strict=True)
    if pad == _SAME:
        return 1, *(-(-length // stride) for length, _ in lengths)
    return 1, *((length - window) // stride + 1 for length, window in lengths)


def cells() -> bytes:
    """Two cells as architecture search finds them: four branches, concatenated, and a way around them."""
    net = Net(1)
    x = net.conv(net.input(16, 16, 3), 12, (3, 3))
    for _ in range(2):
        point = net.conv(x, 8)
        near = net.conv(net.depthwise(x, (3, 3)), 8)
        far = net.conv(net.depthwise(x, (5, 5)), 8)
        peaks = net.conv(net.pool("MAX_POOL_2D", x, (3, 3), (1, 1), _SAME), 8)
        joined = net.conv(net.concat(point, near, far, peaks), 12, act=_LINEAR)
        x = net.add(x, joined, _RELU)
    return net.file(net.scores(x, 6))


def inverted() -> bytes:
    """Inverted residuals: thin tensors, widened for a depthwise convolution, of stride 1 and 2."""
    net = Net(2)
    x = net.conv(net.input(24, 24, 3), 8, (3, 3), _RELU6, stride=2)
    for channels, stride in ((8, 1), (12, 2), (12, 1), (16, 2), (16, 1)):
        wide = net.conv(x, 4 * x.shape[3], act=_RELU6)
        thin = net.conv(net.depthwise(wide, (3, 3), _RELU6, stride), channels, act=_LINEAR)
        x = net.add(x, thin) if stride == 1 else thin
    return net.file(net.scores(net.conv(x, 48, act=_RELU6), 10))


def unet() -> bytes:
    """An image to a map: three resolutions down, and up again beside what was there on the way down."""
    net = Net(3)
    fine = net.conv(net.input(16, 16, 2), 8, (3, 3))
    middle = net.conv(net.pool("MAX_POOL_2D", fine, (2, 2)), 12, (3, 3))
    coarse = net.conv(net.pool("MAX_POOL_2D", middle, (2, 2)), 16, (3, 3))
    middle = net.conv(net.concat(net.upsample(coarse), middle), 12, (3, 3))
    fine = net.conv(net.concat(net.upsample(middle), fine), 8, (3, 3))
    return net.file(net.sigmoid(net.conv(fine, 1, act=_LINEAR)))


def autoencoder() -> bytes:
    """Dense layers through a narrow one."""
    net = Net(4)
    x = net.input(128)
    for channels in (64, 32, 8, 32, 64):
        x = net.dense(x, channels)
    return net.file(net.dense(x, 128, _LINEAR))


def separable() -> bytes:
    """Depthwise-separable layers as some exporters leave them: PAD and RELU are operators of their own."""
    net = Net(5)
    x = net.conv(net.pad(net.input(20, 20, 3), 1, 1), 8, (3, 3), _LINEAR, stride=2, pad=_VALID)
    for channels, stride in ((16, 1), (16, 2), (24, 1)):
        around = net.pad(net.relu(x), 1, 1)
        x = net.conv(net.relu(net.depthwise(around, (3, 3), _LINEAR, stride, _VALID)), channels, act=_LINEAR)
    return net.file(net.scores(net.relu(x), 4))


def dead_channels() -> bytes:
    """Convolutions some of whose channels are zero on every input."""
    net = Net(6)
    x = net.conv(net.input(16, 16, 3), 16, (3, 3), dead=6)
    x = net.conv(net.depthwise(x, (3, 3), stride=2), 24, dead=16)
    x = net.conv(net.depthwise(x, (3, 3)), 32, dead=9)
    return net.file(net.scores(x, 5))


def three_of_four() -> bytes:
    """Depthwise convolutions over four channels of which one is zero on every input.  Not of `NETS`."""
    net = Net(9)
    x = net.conv(net.input(32, 32, 3), 4, (3, 3), dead=1)
    for _ in range(3):
        x = net.depthwise(x, (3, 3), pad=_VALID)
    return net.file(net.scores(x, 5))


def time_series() -> bytes:
    """Convolutions along time, without padding."""
    net = Net(7)
    x = net.input(96, 1, 8)
    x = net.conv(x, 24, (5, 1), pad=_VALID)
    x = net.conv(net.depthwise(x, (7, 1), pad=_VALID), 24)
    x = net.pool("AVERAGE_POOL_2D", x, (2, 1))
    x = net.conv(net.depthwise(x, (9, 1), pad=_VALID), 32)
    return net.file(net.scores(x, 3))


def two_ends() -> bytes:
    """Two inputs and two outputs: a map of where both images are alike, and scores."""
    net = Net(8)
    left, right = net.input(12, 12, 3), net.input(12, 12, 3)
    both = net.concat(net.conv(left, 8, (3, 3)), net.conv(right, 8, (3, 3)))
    trunk = net.conv(net.depthwise(both, (3, 3)), 16)
    chart = net.sigmoid(net.conv(trunk, 2, act=_LINEAR))
    return net.file(chart, net.scores(net.conv(trunk, 24, (3, 3), stride=2), 7))


def shuffled() -> bytes:
    """Four branches, each wide at first, written side by side as some exporters do: all first layers come first."""
    net = Net(10)
    x = net.conv(net.input(16, 16, 3), 4, (3, 3))
    wide = [net.conv(x, channels) for channels in (12, 20, 16, 8)]
    small = [net.depthwise(each, (3, 3), stride=2) for each in wide]
    thin = [net.conv(each, 6, act=_LINEAR) for each in small]
    left, right = net.add(thin[0], thin[1], _RELU), net.add(thin[2], thin[3], _RELU)
    return net.file(net.scores(net.add(left, right, _RELU), 5))


NETS: dict[str, Callable[[], bytes]] = {
    net.__name__: net
    for net in (
        cells,
        inverted,
        unet,
        autoencoder,
        separable,
        dead_channels,
        time_series,
        two_ends,
        shuffled,
    )
}
