"""From a manifest: the small rewrites remove what they can, words switch them off, and what is left is exact."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import call, equals_tflm, manifest, succeed
from tests.support.flatfile import flatfile
from tests.support.kernels.drawing import INT8, activation, constant
from tests.support.tools import needs_c
from usmp_build.ir import options as o
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.operators.binary import Binary
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.sums import Conv2D


def network() -> bytes:
    """A convolution and means over padded images, a clamp behind each sum, two equal operators and one for nothing."""
    r = np.random.default_rng(3)
    shapes = {"x": (1, 8, 8, 3), "padded": (1, 10, 10, 3), "conv": (1, 8, 8, 4), "relu": (1, 8, 8, 4)}
    shapes |= {"same": (1, 8, 8, 4), "wide": (1, 10, 10, 4)} | dict.fromkeys(
        ["mean", "again", "sum", "y"], (1, 5, 5, 4)
    )
    tensors = [activation(name, shape, INT8, 0.1, -5) for name, shape in shapes.items()]
    tensors.append(activation("unused", (1, 5, 5, 4), INT8, 1 / 256, -128))
    x, padded, conv, relu, same, wide, mean, again, total, y, unused = range(11)
    tensors += [
        constant("weights", r.integers(-90, 90, (4, 3, 3, 3), np.int8), [0.02] * 4),
        constant("bias", r.integers(-500, 500, 4).astype(np.int32), [0.002] * 4),
        constant("one", np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)),
        constant("more", np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)),
    ]
    weights, bias, one, more = range(11, 15)
    pool = Pool2D(o.Padding.VALID, 2, 2, 2, 2)
    operators = (
        Operator("PAD", (x, one), (padded,)),
        Operator("CONV_2D", (padded, weights, bias), (conv,), Conv2D(o.Padding.VALID)),
        Operator("RELU", (conv,), (relu,)),
        Operator("QUANTIZE", (relu,), (same,)),
        Operator("PAD", (same, more), (wide,)),
        Operator("AVERAGE_POOL_2D", (wide,), (mean,), pool),
        Operator("AVERAGE_POOL_2D", (wide,), (again,), pool),
        Operator("ADD", (mean, again), (total,), Binary()),
        Operator("LOGISTIC", (mean,), (unused,)),
        Operator("RELU", (total,), (y,)),
    )
    return flatfile(Subgraph("main", tuple(tensors), (x,), (y,), operators))


def planned(folder: Path, plan: str = "", model: str = "") -> Path:
    (folder / "net.tflite").write_bytes(network())
    return manifest(folder, f'[project]\nname = "p"\n[plan]\n{plan}\n[models.net]\npath = "net.tflite"\n{model}\n')


def operators(path: Path) -> list[str]:
    """What `inspect model` prints of the operators that run, without operands."""
    done = succeed("inspect", "model", path)
    return re.findall(r"= ([A-Z_0-9]+\(.*) @", done.out)


def test_what_is_left(tmp_path: Path) -> None:
    conv, pool, add = operators(planned(tmp_path))
    assert conv.endswith("padding=VALID activation=RELU frame=[1*4]")
    assert pool.endswith("filter_h=2 filter_w=2 frame=[1*4] outside=-5")
    assert add.endswith("activation=RELU")
    removed = call("inspect", "rewrite", tmp_path / "usmp.toml").out
    assert re.findall(r"net +(\w+) +(\d+)", removed) == [
        ("identities", "1"),
        ("duplicates", "1"),
        ("pads", "2"),
        ("activations", "2"),
        ("dead", "1"),
    ]


SWITCHES = ("identities", "duplicates", "pads", "activations", "lookups", "dead")
OFF = f"rewrites = {{ {', '.join(f'{name} = false' for name in SWITCHES)} }}"


@pytest.mark.slow
@needs_c
@pytest.mark.parametrize("plan", ["", OFF])
def test_every_tensor_that_is_kept_is_tflms(tmp_path: Path, plan: str) -> None:
    equals_tflm(planned(tmp_path, plan), "--sanitize", "--runs", "20")
