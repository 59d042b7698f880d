"""Nets drawn at random, one value of which is a variable that is read before it is written, too: all is as in TFLM.

What a variable holds depends on when it is read and written, so nothing that touches it may be moved.
"""

import os
from pathlib import Path
from random import Random

import pytest

from tests.support.cli import manifest, succeed, tables
from tests.support.net import Net, Value
from tests.support.remembering import RememberingNet
from tests.support.tools import needs_c

COUNT = max(1, int(os.environ.get("USMP_CASES", "60")) // 6)
_LINEAR, _VALID, _SAME = 0, 1, 0
SHAPE = 1, 4, 4, 2


def drawn(seed: int) -> bytes:
    """Draw a net of values of one shape and quantization, and make one of them a variable."""
    r, net = Random(seed), RememberingNet(seed)
    values = [net.input(*SHAPE[1:])]
    for _ in range(r.randint(4, 10)):
        values.append(_next(net, r, r.choice(values[-2:])))
    place = r.randint(1, len(values) - 2)
    kept = values[place]
    instead = {value.index for value in r.sample(values[:place], r.randint(1, place))}
    if r.random() < 0.6:
        net.remember(kept, instead)
    else:
        net.assign(kept, instead, r.randint(0, 3))
    outputs = net.unread([*values[1:place], *values[place + 1 :]])
    return net.file(*outputs)


def _next(net: Net, r: Random, x: Value) -> Value:
    """Add an operator, or some, from which a value like the first one comes."""
    match r.randint(0, 7):
        case 0 | 1:
            return net.relu(x)
        case 2:
            return net.conv(x, 2, (3, 3), _LINEAR)
        case 3:
            return net.conv(net.pad(x, 1, 1), 2, (3, 3), _LINEAR, pad=_VALID)
        case 4:
            return net.pool(r.choice(["MAX_POOL_2D", "AVERAGE_POOL_2D"]), net.pad(x, 1, 1), (3, 3), (1, 1))
        case 5:
            return net.reshape(net.relu(net.reshape(x, 1, 32)), *SHAPE)
        case 6:
            return net.conv(net.add(x, net.relu(x)), 2, (1, 1), _LINEAR)
        case _:
            return net.concat(*net.split(net.conv(x, 4, (1, 1), _LINEAR, dead=1), 2)[:1])


@pytest.mark.long
@needs_c
def test_every_tensor_of_nets_that_remember_is_that_of_tensorflow_lite_micro(tmp_path: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    models = {}
    for seed in range(COUNT):
        (tmp_path / f"net{seed}.tflite").write_bytes(drawn(seed))
        models[f"net{seed}"] = f'path = "net{seed}.tflite"\n'
    done = succeed("selftest", manifest(tmp_path, tables("p", {"ram": 'access = "rw"\n'}, models)), "--runs", "3")
    assert done.out.count("all equal to those of TensorFlow Lite Micro") == COUNT
