"""What the analysis takes, on models that ask for much: small files whose operators share constants."""

import tracemalloc
from importlib import import_module

import numpy as np
import pytest

from usmp_build.arithmetic.vectors import Booleans
from usmp_build.ir.graph import DType, Model, Operator, Quantization, Subgraph, Tensor
from usmp_build.operators.sums import FullyConnected
from usmp_build.passes.rewrite.constant_channels import constant_channels
from usmp_build.passes.rewrite.constant_channels.forward import Facts
from usmp_build.passes.rewrite.constant_channels.sums import Sum

needed = import_module("usmp_build.passes.rewrite.constant_channels.needed")

ONE = Quantization((1.0,), (0,))
MIB = 1 << 20


def layers(count: int, width: int) -> Model:
    """FULLY_CONNECTED after FULLY_CONNECTED, all with the same weights; the first of %0, whose output has one zero."""
    weights = np.ones((width, width), np.int8)
    weights[0] = 0
    constants = (
        Tensor("w", (width, width), DType.INT8, ONE, weights.tobytes()),
        Tensor("b", (width,), DType.INT32, None, bytes(4 * width)),
    )
    values = tuple(Tensor(f"t{i}", (1, width), DType.INT8, ONE) for i in range(count + 1))
    operators = tuple(Operator("FULLY_CONNECTED", (i + 2, 0, 1), (i + 3,), FullyConnected(), i) for i in range(count))
    return Model("m", (Subgraph("main", (*constants, *values), (2,), (count + 2,), operators),))


def test_weights_that_operators_share_are_in_memory_once() -> None:
    model = layers(16, 1024)
    tracemalloc.start()
    result = constant_channels(model)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.channels[0, 3] == tuple(range(1, 1024))
    assert peak < 100 * MIB


def test_more_weights_than_any_small_device_has_are_not_looked_at() -> None:
    model = layers(17, 1024)
    assert constant_channels(model).model is model


def test_a_kept_output_is_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[int, int] = {}

    def counted(role: Sum, computed: Booleans, known: Facts, kept: dict[int, Booleans]) -> None:
        asked[role.target] = asked.get(role.target, 0) + int(computed.sum())
        original(role, computed, known, kept)

    original = needed._sum
    monkeypatch.setattr(needed, "_sum", counted)
    constant_channels(layers(3, 8))
    assert asked
    assert max(asked.values()) <= 8
