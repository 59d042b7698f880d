"""Makes the models of examples/cascade: small, int8, with pseudo-random weights.

    detector   a picture → what is where in it           two convolutions
    expert     what is where, a question → an answer   the question weighs the channels
    listener   a sound → whether somebody speaks       two dense layers, in the way of the others

Run from the project's folder:  python -m tests.data.make_cascade
"""

from collections.abc import Sequence

import numpy as np

from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write
from tests.support.tree import ROOT

FOLDER = ROOT / "examples" / "cascade"
SAME = 0
RELU = 1
CHANNELS = 8
MAP = (1, 4, 4, CHANNELS)
"""Of what is found: expert must mean the same by them."""
FOUND = (0.05, -128)


class _Net:
    """Tensors, their data and operators, as they grow."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.data: list[bytes] = []
        self.operators: list[Node] = []
        self.tensors: list[Node] = []

    def value(self, name: str, shape: Sequence[int], scale: float, zero: int) -> int:
        """Add an input, or what an operator will write."""
        self.tensors.append(tensor(name, shape, Quantization=quantization([scale], [zero])))
        return len(self.tensors) - 1

    def weights(self, name: str, shape: Sequence[int], scale: float) -> list[int]:
        """Add weights and biases for an input of this scale; the first extent is that of the output."""
        values = self.random.integers(-127, 128, shape, np.int8)
        biases = self.random.integers(-2000, 2000, shape[0], np.int32)
        for what, array, dtype, own in (("weights", values, "INT8", 0.01), ("biases", biases, "INT32", 0.01 * scale)):
            self.data.append(array.tobytes())
            fields = {"Buffer": len(self.data), "Quantization": quantization([own], [0])}
            self.tensors.append(tensor(f"{name}_{what}", array.shape, dtype, **fields))
        return [len(self.tensors) - 2, len(self.tensors) - 1]

    def run(self, kind: str, inputs: Sequence[int], output: int, options: Node) -> int:
        """Add an operator."""
        self.operators.append(operator(kind, inputs, [output], options))
        return output

    def write(self, name: str, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Write the file."""
        root = model(subgraph(self.tensors, self.operators, inputs, outputs), data=self.data)
        (FOLDER / f"{name}.tflite").write_bytes(write(root))


def detector() -> None:
    """Halve the picture twice, and find eight things in it."""
    net = _Net(1)
    picture = net.value("picture", (1, 16, 16, 1), 0.02, 0)
    options = Node(
        "Conv2DOptions",
        Padding=SAME,
        StrideW=2,
        StrideH=2,
        DilationWFactor=1,
        DilationHFactor=1,
        FusedActivationFunction=RELU,
    )
    first = net.value("edges", (1, 8, 8, 4), 0.03, -128)
    net.run("CONV_2D", [picture, *net.weights("first", (4, 3, 3, 1), 0.02)], first, options)
    second = net.value("found", MAP, *FOUND)
    net.run("CONV_2D", [first, *net.weights("second", (CHANNELS, 3, 3, 4), 0.03)], second, options)
    net.write("detector", [picture], [second])


def expert() -> None:
    """Scale the channels of the detections by a question, and classify the result."""
    net = _Net(2)
    detection = net.value("found", MAP, *FOUND)
    question = net.value("question", (1, 1, 1, CHANNELS), 0.01, 0)
    weighed = net.value("weighed", MAP, 0.05, 0)
    net.run("MUL", [detection, question], weighed, Node("MulOptions"))
    pooled = net.value("pooled", (1, 2, 2, CHANNELS), 0.05, 0)
    options = Node("Pool2DOptions", Padding=SAME, StrideW=2, StrideH=2, FilterWidth=2, FilterHeight=2)
    net.run("AVERAGE_POOL_2D", [weighed], pooled, options)
    answer = net.value("answer", (1, 4), 0.1, 0)
    weights = net.weights("judge", (4, 4 * CHANNELS), 0.05)
    net.run("FULLY_CONNECTED", [pooled, *weights], answer, Node("FullyConnectedOptions"))
    net.write("expert", [detection, question], [answer])


def listener() -> None:
    """Two dense layers."""
    net = _Net(3)
    sound = net.value("sound", (1, 256), 0.01, 0)
    inner = net.value("inner", (1, 64), 0.2, 0)
    options = Node("FullyConnectedOptions")
    net.run("FULLY_CONNECTED", [sound, *net.weights("first", (64, 256), 0.01)], inner, options)
    speech = net.value("speech", (1, 2), 1.0, 0)
    net.run("FULLY_CONNECTED", [inner, *net.weights("second", (2, 64), 0.2)], speech, options)
    net.write("listener", [sound], [speech])


def main() -> None:
    """Write the files."""
    detector()
    expert()
    listener()


if __name__ == "__main__":
    main()
