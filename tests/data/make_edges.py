"""Makes the model of examples/rows: it finds the edges of a picture, and returns a picture of them.

    CONV_2D            brightness that grows to the left, right, top or bottom, each in a channel
    DEPTHWISE_CONV_2D  the mean of 3 × 3 pixels, so that noise counts less
    CONV_2D            the sum of the channels

Run from the project's folder:  python -m tests.data.make_edges
"""

import numpy as np

from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write
from tests.support.tree import ROOT

FILE = ROOT / "examples" / "rows" / "edges.tflite"
ROWS, COLUMNS = 48, 64
SAME, RELU = 0, 1
SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.int8)
"""Grows with brightness from left to right."""
ZERO = -128
"""Zero point of all values: none is negative."""


def edges() -> bytes:
    """Return the file."""
    gradients = np.stack([SOBEL, -SOBEL, SOBEL.T, -SOBEL.T])[..., np.newaxis]
    tensors = [_value("picture", 1, 1.0)]
    data: list[bytes] = []
    operators = []
    layers = (
        ("CONV_2D", "gradients", gradients, 1.0, 4, 4.0),
        ("DEPTHWISE_CONV_2D", "smooth", np.ones((1, 3, 3, 4), np.int8), 1 / 9, 4, 4.0),
        ("CONV_2D", "edges", np.ones((1, 1, 1, 4), np.int8), 1.0, 1, 5.0),
    )
    scale = 1.0
    for kind, name, filters, weight, channels, result in layers:
        source = 3 * len(operators)
        for array, dtype, own in ((filters, "INT8", weight), (np.zeros(channels, np.int32), "INT32", weight * scale)):
            data.append(array.tobytes())
            fields = {"Buffer": len(data), "Quantization": quantization([own], [0])}
            tensors.append(tensor(f"{name}_{dtype.lower()}", array.shape, dtype, **fields))
        tensors.append(_value(name, channels, result))
        operators.append(operator(kind, [source, source + 1, source + 2], [source + 3], _options(kind)))
        scale = result
    return write(model(subgraph(tensors, operators, [0], [len(tensors) - 1]), data=data))


def _value(name: str, channels: int, scale: float) -> Node:
    return tensor(name, (1, ROWS, COLUMNS, channels), Quantization=quantization([scale], [ZERO]))


def _options(kind: str) -> Node:
    more = {"DepthMultiplier": 1} if kind == "DEPTHWISE_CONV_2D" else {}
    return Node(
        "DepthwiseConv2DOptions" if more else "Conv2DOptions",
        Padding=SAME,
        StrideW=1,
        StrideH=1,
        DilationWFactor=1,
        DilationHFactor=1,
        FusedActivationFunction=RELU,
        **more,
    )


if __name__ == "__main__":
    FILE.write_bytes(edges())
