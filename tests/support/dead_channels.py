"""Quantized networks made by script, in which many channels are constant, or read by nobody."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.ir import options as o
from usmp_build.ir.graph import DType, Operator, Quantization, Subgraph, Tensor
from usmp_build.operators.binary import Binary
from usmp_build.operators.joining import Concatenation
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.reductions import Reducer
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D, FullyConnected

Random: TypeAlias = np.random.Generator
Array: TypeAlias = NDArray[Any]


class Network:
    """Grows by one operator at a time; `at` is the tensor that the next one reads."""

    def __init__(self, r: Random) -> None:
        self.r = r
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []
        side = int(r.integers(4, 9))
        self.at = self.activation((1, side, side, int(r.integers(1, 5))))

    def draw(self) -> Subgraph:
        """Draw a network: some operators on images, then a classifier or not."""
        steps = [self.conv, self.conv, self.depthwise, self.depthwise, self.pool, self.join, self.side, self.unary]
        steps += [self.pad, self.times]
        for _ in range(int(self.r.integers(3, 9))):
            steps[int(self.r.integers(len(steps)))]()
        if self.r.random() < 0.7:
            self.classify()
        else:
            self.conv()
        return Subgraph("main", tuple(self.tensors), (0,), (self.at,), tuple(self.operators))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensors[self.at].shape

    def activation(self, shape: Sequence[int], like: int | None = None) -> int:
        """Add a tensor that is computed, quantized like another one or in any way."""
        scale = float(np.float32(np.exp(self.r.uniform(-4, -2))))
        zero_point = int(self.r.choice([-128, -128, -5, 20, 127]))
        quantization = Quantization((scale,), (zero_point,)) if like is None else self.tensors[like].quantization
        return self.add(Tensor(f"t{len(self.tensors)}", tuple(shape), DType.INT8, quantization))

    def constant(self, data: Array, scales: Sequence[float] = (), axis: int = 0) -> int:
        quantization = Quantization(tuple(scales), (0,) * len(scales), axis) if scales else None
        kind = DType(data.dtype.name.upper())
        return self.add(Tensor(f"c{len(self.tensors)}", data.shape, kind, quantization, data.tobytes()))

    def add(self, tensor: Tensor) -> int:
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def operate(self, kind: str, inputs: Sequence[int], output: int, options: o.Options | None = None) -> None:
        self.operators.append(Operator(kind, tuple(inputs), (output,), options, len(self.operators)))
        self.at = output

    def weights(self, shape: tuple[int, ...], outputs: int, axis: int) -> tuple[Array, Array, list[float]]:
        """Draw weights, biases and scales: some outputs saturate, some have no weights, some inputs none, either."""
        weights = self.r.integers(-127, 128, shape).astype(np.int8)
        across = np.moveaxis(weights, axis, 0)
        bias = self.r.integers(-3000, 3000, outputs).astype(np.int32)
        reach = 255 * 128 * weights.size // outputs
        for channel in range(outputs):
            fate = self.r.random()
            if fate < 0.25:
                bias[channel] = int(self.r.choice([-1, 1])) * (reach + 100_000)
            elif fate < 0.4:
                across[channel] = 0
        if axis == 0 and self.r.random() < 0.5:
            weights[..., self.r.random(shape[-1]) < 0.4] = 0
        return weights, bias, [float(np.float32(s)) for s in np.exp(self.r.uniform(-7, -5, outputs))]

    def window(self) -> tuple[int, o.Padding, int]:
        """Draw size, padding and stride of a window over the images."""
        size = int(self.r.choice([1, 2, 3]))
        padding = o.Padding(int(self.r.integers(2)))
        return min(size, *self.shape[1:3]), padding, int(self.r.choice([1, 1, 2]))

    def windowed(self, size: int, padding: o.Padding, stride: int) -> tuple[int, int]:
        """Return height and width behind a window."""
        rest = size if padding is o.Padding.VALID else 1
        return (self.shape[1] - rest) // stride + 1, (self.shape[2] - rest) // stride + 1

    def function(self) -> o.Activation:
        return o.Activation(int(self.r.choice([0, 1, 3])))

    def conv(self) -> None:
        size, padding, stride = self.window()
        outputs, inputs = int(self.r.integers(1, 13)), self.shape[3]
        weights, bias, scales = self.weights((outputs, size, size, inputs), outputs, 0)
        output = self.activation((1, *self.windowed(size, padding, stride), outputs))
        operands = [self.at, self.constant(weights, scales), self.constant(bias)]
        self.operate("CONV_2D", operands, output, Conv2D(padding, stride, stride, 1, 1, self.function()))

    def depthwise(self) -> None:
        size, padding, stride = self.window()
        multiplier = int(self.r.choice([1, 1, 2])) if self.shape[3] < 12 else 1
        outputs = self.shape[3] * multiplier
        weights, bias, scales = self.weights((1, size, size, outputs), outputs, 3)
        output = self.activation((1, *self.windowed(size, padding, stride), outputs))
        operands = [self.at, self.constant(weights, scales, 3), self.constant(bias)]
        options = DepthwiseConv2D(padding, stride, stride, multiplier, 1, 1, self.function())
        self.operate("DEPTHWISE_CONV_2D", operands, output, options)

    def pool(self) -> None:
        size, padding, stride = self.window()
        output = self.activation((1, *self.windowed(size, padding, stride), self.shape[3]), like=self.at)
        kind = str(self.r.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"]))
        self.operate(kind, [self.at], output, Pool2D(padding, stride, stride, size, size, self.function()))

    def times(self) -> None:
        """MUL with a number for each channel."""
        gains = self.r.integers(-128, 128, (1, 1, 1, self.shape[3])).astype(np.int8)
        gains[self.r.random(gains.shape) < 0.3] = 0
        self.operate("MUL", [self.at, self.constant(gains, [0.01])], self.activation(self.shape), Binary())

    def join(self) -> None:
        """ADD or SUB of an earlier tensor of this shape, else of biases."""
        others = [t for t in self.computed() if self.tensors[t].shape == self.shape and t != self.at]
        other = int(self.r.choice(others)) if others else -1
        if other < 0:
            other = self.constant(self.r.integers(-128, 128, (self.shape[3],)).astype(np.int8), [0.02])
        kind = str(self.r.choice(["ADD", "SUB"]))
        self.operate(kind, [self.at, other], self.activation(self.shape), Binary(self.function()))

    def side(self) -> None:
        """CONCATENATION with what one more convolution makes of the same images."""
        first, wide = self.at, 1 + int(self.r.integers(4))
        weights, bias, scales = self.weights((wide, 1, 1, self.shape[3]), wide, 0)
        output = self.activation((*self.shape[:3], wide), like=first)
        operands = [self.at, self.constant(weights, scales), self.constant(bias)]
        self.operate("CONV_2D", operands, output, Conv2D(activation=self.function()))
        both = self.activation((*self.shape[:3], self.tensors[first].shape[3] + wide), like=first)
        self.operate("CONCATENATION", [first, output], both, Concatenation(axis=3))

    def unary(self) -> None:
        kind = str(self.r.choice(["LOGISTIC", "TANH", "RELU", "RELU6", "QUANTIZE"]))
        output = self.activation(self.shape, like=self.at if kind == "RELU6" else None)
        fixed = {"LOGISTIC": Quantization((1 / 256,), (-128,)), "TANH": Quantization((1 / 128,), (0,))}
        if kind in fixed:
            self.tensors[output] = Tensor(f"t{output}", self.shape, DType.INT8, fixed[kind])
        self.operate(kind, [self.at], output)

    def pad(self) -> None:
        frame = np.array([[0, 0], [1, 1], [0, 1], [0, 0]], np.int32)
        shape = tuple(size + sum(pair) for size, pair in zip(self.shape, frame.tolist(), strict=True))
        output = self.activation(shape, like=self.at)
        self.operate("PAD", [self.at, self.constant(frame)], output)

    def classify(self) -> None:
        """The mean of images or all of their pixels, and a matrix or two."""
        if self.r.random() < 0.5:
            axes = self.constant(np.array([1, 2], np.int32))
            self.operate("MEAN", [self.at, axes], self.activation((1, self.shape[3])), Reducer(keep_dims=False))
        else:
            shape = (1, int(np.prod(self.shape)))
            operand = self.constant(np.array(shape, np.int32))
            self.operate("RESHAPE", [self.at, operand], self.activation(shape, like=self.at))
        for outputs in (int(self.r.integers(2, 12)), 5):
            weights, bias, scales = self.weights((outputs, self.shape[1]), outputs, 0)
            quantization = self.tensors[self.at].quantization
            assert quantization is not None
            of_sums = float(np.float32(quantization.scales[0] * scales[0]))
            operands = [self.at, self.constant(weights, scales[:1]), self.constant(bias, [of_sums])]
            activation = self.function() if outputs != 5 else o.Activation.NONE
            self.operate("FULLY_CONNECTED", operands, self.activation((1, outputs)), FullyConnected(activation))

    def computed(self) -> list[int]:
        return [0, *(op.outputs[0] for op in self.operators)]
