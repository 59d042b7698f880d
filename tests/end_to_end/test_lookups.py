"""From a manifest: functions of one int8 are one operator, need no second tensor, and every tensor left is TFLM's."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import equals_tflm, manifest, planned, succeed
from tests.support.flatfile import flatfile
from tests.support.kernels.drawing import INT8, Array, activation, constant
from tests.support.tools import few, needs_c
from usmp_build.ir import options as o
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.operators.binary import Binary
from usmp_build.operators.sums import Conv2D

SIDE, CHANNELS = 32, 16


class _Net:
    """Convolutions over one image, with functions behind them."""

    def __init__(self) -> None:
        self.r = np.random.default_rng(1)
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []

    def image(self, channels: int, scale: float = 0.05, zero_point: int = -3) -> int:
        name = f"t{len(self.tensors)}"
        self.tensors.append(activation(name, (1, SIDE, SIDE, channels), INT8, scale, zero_point))
        return len(self.tensors) - 1

    def constant(self, data: Array, scale: float, count: int = 1) -> int:
        self.tensors.append(constant(f"c{len(self.tensors)}", data, [scale] * count))
        return len(self.tensors) - 1

    def conv(self, x: int, channels: int, size: int = 3) -> int:
        read = self.tensors[x].shape[3]
        scale = 0.02 / size / read**0.5
        weights = self.constant(self.r.integers(-127, 127, (channels, size, size, read), np.int8), scale, channels)
        bias = self.constant(self.r.integers(-99, 99, channels).astype(np.int32), 0.05 * scale, channels)
        return self.run("CONV_2D", [x, weights, bias], self.image(channels), Conv2D())

    def silu(self, x: int) -> int:
        gate = self.run("LOGISTIC", [x], self.image(CHANNELS, 1 / 256, -128))
        return self.run("MUL", [x, gate], self.image(CHANNELS, 0.05, -120), Binary())

    def hard_swish(self, x: int) -> int:
        three = self.constant(np.array(120, np.int8), 0.025)
        sixth = self.constant(np.array([127], np.int8), 1 / 6 / 127)
        inside = self.run("ADD", [x, three], self.image(CHANNELS, 6 / 255, -128), Binary(o.Activation.RELU6))
        gate = self.run("MUL", [inside, sixth], self.image(CHANNELS, 1 / 256, -128), Binary())
        return self.run("MUL", [x, gate], self.image(CHANNELS, 0.05, -120), Binary())

    def run(self, kind: str, inputs: list[int], output: int, options: o.Options | None = None) -> int:
        self.operators.append(Operator(kind, tuple(inputs), (output,), options, len(self.operators)))
        return output


def network(function: str) -> bytes:
    net = _Net()
    x = at = net.image(3)
    for _ in range(2):
        at = getattr(net, function)(net.conv(at, CHANNELS))
    y = net.conv(at, 4, size=1)
    return flatfile(Subgraph("main", tuple(net.tensors), (x,), (y,), tuple(net.operators)))


def net_manifest(folder: Path, function: str, plan: str = "") -> Path:
    (folder / "net.tflite").write_bytes(network(function))
    return manifest(folder, f'[project]\nname = "p"\n[plan]\n{plan}\n[models.net]\npath = "net.tflite"\n')


@pytest.mark.drawn("goal")
@pytest.mark.parametrize("goal", ["ram", "balanced"])
@pytest.mark.parametrize(("function", "operators"), [("silu", 2), ("hard_swish", 4)])
def test_a_function_needs_no_second_tensor(tmp_path: Path, function: str, operators: int, goal: str) -> None:
    path = net_manifest(tmp_path, function, f'goal = "{goal}"\nrows = false')
    plan = planned(path)
    assert [(row["rewrite"], row["operators"]) for row in plan["models"][0]["rewrites"]] == [("lookups", operators)]
    off = planned(net_manifest(tmp_path, function, "rows = false\nrewrites = { lookups = false }"))
    assert [each["alternatives"]["models"][0]["workspace"] for each in (plan, off)] == [16_924, 32_768]


@needs_c
@pytest.mark.parametrize("function", few(["silu", "hard_swish"], 1))
@pytest.mark.long
def test_every_tensor_is_tflms(tmp_path: Path, function: str) -> None:
    equals_tflm(net_manifest(tmp_path, function), "--sanitize", "--runs", "10")
    succeed("selftest", tmp_path / "usmp.toml", "--accesses")
