"""Nets drawn at random, in which parts, frames, constant channels and both goals meet: every tensor is TFLM's.

Each net has a pool of its own, so that it is planned as tightly as if it were alone; one program runs them all.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from random import Random

import pytest

from tests.support.cli import call, manifest, tables
from tests.support.net import Net, Value
from tests.support.road import analyze
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.check_flow import flow_faults

COUNT = max(1, int(os.environ.get("USMP_CASES", "60")) // 12)
KINDS = ["conv", "conv", "conv", "depthwise", "pool", "pad", "relu", "add", "split", "slice"]
_LINEAR, _RELU = 0, 1
_SAME, _VALID = 0, 1
_LARGEST = 2_000
"""Bytes of a tensor, so that nets do not grow without end."""

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def drawn(seed: int) -> bytes:
    """Draw a net of some operators that branch, join and part; what nobody reads is an output."""
    r, net = Random(seed), Net(seed)
    shape = (r.randint(3, 8), r.randint(3, 8))
    values = [_layer(net, r, net.input(*shape, r.randint(1, 8))) for _ in range(r.randint(1, 3))]
    unread = list(values)
    for _ in range(r.randint(8, 16)):
        operands = _operands(r, unread if r.random() < 0.8 else values)
        made = _grown(net, r, operands)
        if made:
            values += made
            unread = [value for value in unread if value not in operands] + made
    return net.file(*unread)


def _operands(r: Random, values: list[Value]) -> list[Value]:
    """Draw a value, and sometimes up to three that may be added to it or concatenated with it."""
    first = r.choice(values)
    alike = [each for each in values if (each.scale, each.zero) == (first.scale, first.zero) and each != first]
    fitting = [each for each in alike if each.shape[1:3] == first.shape[1:3]]
    return [first, *r.sample(fitting, min(len(fitting), r.choice([0, 1, 1, 3])))]


def _grown(net: Net, r: Random, operands: list[Value]) -> list[Value]:
    """Add an operator of the first operand, or of all; none where the draw makes no sense."""
    x, kind = operands[0], r.choice(KINDS)
    axis = r.choice([1, 3, 3])
    if len(operands) > 1:
        same = len({each.shape for each in operands}) == 1
        if kind == "add" and same and len(operands) == 2:
            return [net.add(*operands)]
        fits = sum(each.shape[1] * each.shape[2] * each.shape[3] for each in operands) <= _LARGEST
        return [net.concat(*operands, axis=axis if same else 3)] if fits else []
    if kind in {"conv", "depthwise"}:
        return [_layer(net, r, x, kind)]
    if kind == "pool":
        size = _window(r, x)
        return [net.pool(r.choice(["MAX_POOL_2D", "AVERAGE_POOL_2D"]), x, size, (1, r.randint(1, 2)), r.randint(0, 1))]
    if kind == "pad" and max(x.shape[1:3]) < 10:
        return [net.pad(x, r.randint(0, 2), r.randint(0, 2))]
    if kind == "split":
        counts = [count for count in (2, 3, 4) if x.shape[axis] % count == 0]
        return net.split(x, r.choice(counts), axis) if counts else []
    if kind == "slice" and x.shape[axis] > 1:
        start = r.randint(0, x.shape[axis] - 1)
        return [net.slice(x, start, r.randint(start + 1, x.shape[axis]), axis)]
    return [net.relu(x)]


def _layer(net: Net, r: Random, x: Value, kind: str = "conv") -> Value:
    """Add a convolution, some channels of which may be constant."""
    size, act = _window(r, x), r.choice([_LINEAR, _RELU, _RELU])
    stride, pad = r.choice([1, 1, 1, 2]), r.choice([_SAME, _SAME, _VALID])
    if kind == "depthwise":
        return net.depthwise(x, size, act, stride, pad)
    channels = r.randint(1, 8)
    return net.conv(x, channels, size, act, stride, pad, dead=r.choice([0, channels // 2]))


def _window(r: Random, x: Value) -> tuple[int, int]:
    return r.randint(1, min(3, x.shape[1])), r.randint(1, min(3, x.shape[2]))


def written(folder: Path, count: int) -> Path:
    """Write nets and their manifest."""
    pools, models = {}, {}
    for seed in range(count):
        path = folder / f"net{seed}.tflite"
        path.write_bytes(drawn(seed))
        goal = ["ram", "balanced"][seed % 2]
        pools[f"pool{seed}"] = 'access = "rw"\n'
        models[f"net{seed}"] = f'path = "{path.as_posix()}"\nworkspace_pools = ["pool{seed}"]\ngoal = "{goal}"\n'
    return manifest(folder, tables("p", pools, models))


def test_the_first_nets_have_what_is_to_meet(tmp_path: Path) -> None:
    models = json.loads(call("plan", written(tmp_path, 10), "--json").out)["models"]
    found = [{row["rewrite"] for row in model["rewrites"]} for model in models]
    assert sum("parts" in names for names in found) >= 5
    assert any({"parts", "constant_channels"} <= names for names in found)
    assert any({"parts", "pads"} <= names for names in found)


@pytest.mark.parametrize("seed", range(20))
def test_values_still_flow_behind_rewrites_and_parts(seed: int) -> None:
    (made,) = analyze(import_tflite(drawn(seed), "m", "m.tflite")).models
    assert [*flow_faults(0, made.main)] == []


@needs_cc
def test_every_tensor_of_drawn_nets_is_that_of_tensorflow_lite_micro(tmp_path: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    done = call("selftest", written(tmp_path, COUNT), "--sanitize", "--runs", "2")
    assert done.code == 0, done.err
    for seed in range(COUNT):
        assert f"net{seed}: " in done.out
