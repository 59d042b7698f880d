"""Layers that run by CMSIS-NN with Helium, for which a stand-in is linked, touch nothing outside the pools.

Memory protection of ARMv8-M opens multiples of 32 bytes.  So constants of models here take such multiples, without what
is read behind them, and the last one is the one behind which is read: 64 + 3 * 32 bytes, and 20 + 3 * 68.
"""

from pathlib import Path

import numpy as np
import pytest

from tests.support import board_manifests, image
from tests.support.cli import DATA
from tests.support.cmsis_nn import stand_in
from tests.support.firmware import Board, on
from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write
from tests.support.image import RUNS
from tests.support.kernels.driver import HEADERS
from tests.support.planned import Shared
from tests.support.tree import ROOT
from usmp_build.request import Isa
from usmp_build.selftest.inputs import samples

CMSIS_NN = '\n[targets.cpu]\nkernels = "cmsis-nn"\nisa = "mve"\n'
pytestmark = pytest.mark.usefixtures("needs_oracle")


def library(folder: Path) -> Path:
    """Return CMake that makes the target cmsis-nn."""
    flags, (source,) = stand_in(folder, Isa.MVE)
    path = folder / "cmsis_nn.cmake"
    lines = [
        f'add_library(cmsis-nn STATIC "{source.as_posix()}")',
        f"target_compile_options(cmsis-nn PUBLIC {' '.join(flags)} PRIVATE -w)",
        f'target_include_directories(cmsis-nn PRIVATE "{HEADERS}")',
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def one_layer(kind: str, channels: int, filters: int, last: str) -> bytes:
    """Return a model of one convolution of single pixels; `last` begins the name of what is to be its last constant."""
    r = np.random.default_rng(1)
    is_depthwise = kind == "DEPTHWISE_CONV_2D"
    shape = (1, 1, 1, channels) if is_depthwise else (filters, 1, 1, channels)
    weights, biases = r.integers(-127, 128, shape).astype(np.int8), r.integers(-99, 99, filters).astype(np.int32)
    steps, zeros = np.full(filters, 0.01), [0] * filters
    names = {name: f"{'~' * (name == last)}{name}" for name in ("weights", "biases")}
    tensors = [
        tensor("x", (1, 4, 4, channels), Quantization=quantization([0.1], [3])),
        tensor(names["weights"], shape, Buffer=1, Quantization=quantization(steps, zeros, 3 * is_depthwise)),
        tensor(names["biases"], (filters,), "INT32", Buffer=2, Quantization=quantization(0.1 * steps, zeros)),
        tensor("y", (1, 4, 4, filters), Quantization=quantization([0.1], [0])),
    ]
    table, more = ("DepthwiseConv2DOptions", {"DepthMultiplier": 1}) if is_depthwise else ("Conv2DOptions", {})
    options = Node(table, StrideW=1, StrideH=1, DilationWFactor=1, DilationHFactor=1, **more)
    run = operator(kind, [0, 1, 2], [3], options)
    return write(model(subgraph(tensors, [run], [0], [3]), data=[weights.tobytes(), biases.tobytes()]))


@on("m55")
@pytest.mark.parametrize("layer", [("CONV_2D", 8, 8, "weights"), ("DEPTHWISE_CONV_2D", 17, 17, "biases")])
def test_what_is_read_behind_the_last_constant_is_in_the_pool(
    board: Board, layer: tuple[str, int, int, str], tmp_path: Path, shared: Shared
) -> None:
    (tmp_path / "layer.tflite").write_bytes(one_layer(*layer))
    check(board, {"layer": tmp_path / "layer.tflite"}, tmp_path, shared)


@on("m55")
def test_models_run_under_memory_protection(board: Board, tmp_path: Path, shared: Shared) -> None:
    models = {name: DATA / f"{name}.tflite" for name in ("branchy", "digits", "kitchen_a", "odd_even")}
    models |= {
        name: ROOT / "tests" / "models" / f"{name}.tflite" for name in ("shufflenet_int8", "tcn_int8", "yolo_int8")
    }
    check(board, models, tmp_path, shared)


def check(board: Board, models: dict[str, Path], folder: Path, shared: Shared) -> None:
    manifest = board_manifests.of(models, board_manifests.ONE) + CMSIS_NN
    firmware = image.make(board, folder, manifest, RUNS, shared, include=library(folder))
    inputs = [samples(each, RUNS, 1) for each in firmware.planned.imported]
    assert image.check(firmware, image.run(firmware, inputs), inputs) > 0
