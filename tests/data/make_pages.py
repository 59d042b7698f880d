"""Makes pages.tflite: nine tensors of one to five rows of 2 KiB, of which at most nine rows are alive at once.

Nine pages hold them, wherever the rows are; in one piece each they need ten, however they are placed.  Each tensor is
computed by a CONV_2D of the input, whose window is as high as it takes to leave so many rows, and averaged by a MEAN,
which ends its life.

Run from the project's folder:  python -m tests.data.make_pages
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write

ROWS = (4, 2, 2, 5, 3, 1, 5, 2, 2)
LIVES = ((8, 14), (2, 6), (1, 6), (0, 2), (7, 10), (5, 8), (11, 13), (3, 9), (1, 6))
"""For each tensor when it is computed and when it is averaged; deaths come before births."""
HEIGHT, WIDTH, DEPTH, CHANNELS = 8, 32, 3, 64
VALID = 1


class _Net:
    """Tensors, their data and operators, as they grow."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(20)
        self.data: list[bytes] = []
        self.operators: list[Node] = []
        self.outputs: list[int] = []
        self.tensors = [
            tensor("picture", (1, HEIGHT, WIDTH, DEPTH), Quantization=quantization([0.02], [3])),
            self._constant("axes", np.array([1, 2], np.int32), "INT32"),
        ]

    def conv(self, number: int) -> int:
        """Compute tensor `number`; return its index."""
        window = HEIGHT + 1 - ROWS[number]
        weights = self.random.integers(-127, 128, (CHANNELS, window, 1, DEPTH), np.int8)
        biases = self.random.integers(-2000, 2000, CHANNELS, np.int32)
        scales = self.random.uniform(0.002, 0.01, CHANNELS)
        zeros = [0] * CHANNELS
        inputs = [
            0,
            self._add(self._constant(f"weights_{number}", weights, Quantization=quantization(scales, zeros))),
            self._add(
                self._constant(
                    f"biases_{number}", biases, "INT32", Quantization=quantization((scales * 0.02).tolist(), zeros)
                )
            ),
        ]
        shape = (1, ROWS[number], WIDTH, CHANNELS)
        output = self._add(tensor(f"rows_{number}", shape, Quantization=quantization([0.05 * window**0.5], [-7])))
        options = Node("Conv2DOptions", Padding=VALID, StrideW=1, StrideH=1, DilationWFactor=1, DilationHFactor=1)
        self.operators.append(operator("CONV_2D", inputs, [output], options))
        return output

    def mean(self, number: int, source: int) -> None:
        """Average a tensor."""
        output = self._add(tensor(f"mean_{number}", (1, CHANNELS), Quantization=quantization([0.02], [1])))
        self.operators.append(operator("MEAN", [source, 1], [output], Node("ReducerOptions", KeepDims=False)))
        self.outputs.append(output)

    def _add(self, node: Node) -> int:
        self.tensors.append(node)
        return len(self.tensors) - 1

    def _constant(self, name: str, values: np.ndarray, dtype: str = "INT8", **fields: Node) -> Node:
        self.data.append(values.tobytes())
        return tensor(name, values.shape, dtype, Buffer=len(self.data), **fields)


def events() -> Iterator[tuple[bool, int]]:
    """Yield (is a birth, tensor) in order."""
    for step in range(max(stop for _, stop in LIVES) + 1):
        yield from ((False, number) for number, (_, stop) in enumerate(LIVES) if stop == step)
        yield from ((True, number) for number, (start, _) in enumerate(LIVES) if start == step)


def main() -> None:
    """Write the file."""
    net = _Net()
    made: dict[int, int] = {}
    for birth, number in events():
        if birth:
            made[number] = net.conv(number)
        else:
            net.mean(number, made[number])
    root = model(subgraph(net.tensors, net.operators, [0], net.outputs), data=net.data)
    Path(__file__).with_name("pages.tflite").write_bytes(write(root))


if __name__ == "__main__":
    main()
