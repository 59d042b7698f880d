"""Compressed weights are unpacked at build time."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.support.cli import call, succeed
from tests.support.flatfile import flatfile
from tests.support.kernels.drawing import INT8, activation, constant
from tests.support.tools import needs_c, needs_oracle
from usmp_build.ir.graph import DType, Operator, Quantization, Subgraph, Tensor
from usmp_build.operators.decoding import DECODE
from usmp_build.operators.sums import FullyConnected

pytestmark = [needs_c, needs_oracle]


def compressed() -> Subgraph:
    """FULLY_CONNECTED of weights that are indices of 2 bits, and biases that are pruned."""
    r = np.random.default_rng(1)
    table, biases = r.integers(-128, 127, 4, np.int8), np.array([500, -700], np.int32)
    operands = (
        activation("x", (1, 8), INT8, 0.1, 3),
        constant("codes", r.integers(0, 255, 6, np.uint8)),
        constant("how", np.frombuffer(bytes([0, 1, 0, 0, 1, 2, 4, *bytes(9)]) + table.tobytes(), np.uint8)),
        constant("kept", np.array([0b01000100], np.uint8)),
        constant("how_kept", np.frombuffer(bytes([2, 1, 0, 0, 1, *bytes(11)]) + biases.tobytes(), np.uint8)),
        Tensor("weights", (3, 8), INT8, Quantization((0.05,), (0,))),
        Tensor("biases", (3,), DType.INT32, Quantization((0.005,), (0,))),
        activation("y", (1, 3), INT8, 0.2, -4),
    )
    unpack = Operator(DECODE, (1, 2, 3, 4), (5, 6), None, 0)
    return Subgraph(
        "main", operands, (0,), (7,), (unpack, Operator("FULLY_CONNECTED", (0, 5, 6), (7,), FullyConnected(), 1))
    )


def test_a_layer_has_unpacked_weights(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(flatfile(compressed()))
    done = succeed("selftest", tmp_path / "m.tflite")
    assert done.out == "m: 3 tensors, 10 runs, all equal to those of TensorFlow Lite Micro\n"
    assert "m: 2 of 2 operators run" in call("ops", tmp_path / "m.tflite").out


def test_weights_that_are_outputs_are_copied(tmp_path: Path) -> None:
    graph = compressed()
    (tmp_path / "m.tflite").write_bytes(flatfile(replace(graph, outputs=(5, 6), operators=graph.operators[:1])))
    succeed("selftest", tmp_path / "m.tflite")


def test_codes_of_no_known_method_are_refused(tmp_path: Path) -> None:
    graph = compressed()
    how = replace(graph.tensors[2], data=b"\x7f" + (graph.tensors[2].data or b"")[1:])
    tensors = (*graph.tensors[:2], how, *graph.tensors[3:])
    (tmp_path / "m.tflite").write_bytes(flatfile(replace(graph, tensors=tensors)))
    done = call("ops", tmp_path / "m.tflite")
    assert "its codes have method 127 of version 1, which is not defined" in done.out
