"""`selftest` compares with LiteRT what TensorFlow Lite Micro refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import call
from tests.support.flatfile import flatfile
from tests.support.kernels.drawing import Case, activation, case, constant
from tests.support.list_writes import doubling
from tests.support.packages import stand_in
from tests.support.tools import needs_c, needs_oracle
from usmp_build.cli.selftest import oracle
from usmp_build.ir.graph import DType

INTERPRETER = """
import enum

import numpy as np

OpResolverType = enum.Enum("OpResolverType", "BUILTIN_REF BUILTIN_WITHOUT_DEFAULT_DELEGATES")


class Interpreter:
    def __init__(self, model_path, experimental_op_resolver_type, experimental_preserve_all_tensors):
        if experimental_op_resolver_type is OpResolverType.BUILTIN_REF:
            raise ValueError("Didn't find op for builtin opcode 'TILE' version '3'.")

    def allocate_tensors(self):
        pass

    def get_input_details(self):
        return [{"index": 7}]

    def set_tensor(self, index, data):
        assert index == 7
        self.data = data

    def invoke(self):
        pass

    def get_tensor(self, index):
        assert index == 2
        return np.tile(self.data, 2) + np.array(OFF, self.data.dtype)
"""
"""A stand-in that repeats its input, and adds OFF."""

pytestmark = [needs_c, needs_oracle]


def repeated(dtype: DType) -> Case:
    """TILE, which TensorFlow Lite Micro does not have."""
    times = constant("times", np.array([2], np.int32))
    tensors = (activation("x", (4,), dtype, 0.1, 3), times), activation("y", (8,), dtype, 0.1, 3)
    return case(np.random.default_rng(1), "TILE", *tensors)


@pytest.mark.parametrize(
    ("dtype", "off", "code"),
    [
        (DType.FLOAT32, 1 / 32, 0),
        (DType.FLOAT32, 1.0, 4),
        (DType.INT16, 2, 0),
        (DType.INT16, 3, 4),
        (DType.INT32, 1, 4),
    ],
)
def test_what_only_litert_runs_is_compared_with_it(
    dtype: DType, off: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(INTERPRETER.replace("OFF", str(off)), tmp_path, monkeypatch)
    (tmp_path / "m.tflite").write_bytes(flatfile(repeated(dtype).graph))
    done = call("selftest", tmp_path / "m.tflite", "--runs", "1")
    assert done.code == code, done.err
    assert ("all equal to those of LiteRT" if code == 0 else "help: LiteRT rounds elsewhere") in done.out + done.err


def test_loops_that_write_rows_are_compared_with_litert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow Lite Micro would write beyond its tensors, and is neither asked nor given such a model."""
    stand_in(
        INTERPRETER.replace("np.tile(self.data, 2) + np.array(OFF, ", "self.data * np.array(2, "), tmp_path, monkeypatch
    )
    (tmp_path / "m.tflite").write_bytes(flatfile(*doubling()))
    done = call("selftest", tmp_path / "m.tflite")
    assert "m: 1 tensors, those of 2 subgraphs not compared, 10 runs, all equal to those of LiteRT" in done.out
    refused = call("export", "tflm", tmp_path / "m.tflite", "--out", tmp_path / "out")
    assert "error[T247]" in refused.err
    assert "unroll=True" in refused.err


def test_without_litert_there_is_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "LITERT", ("no_such_package",))
    (tmp_path / "m.tflite").write_bytes(flatfile(repeated(DType.INT8).graph))
    done = call("selftest", tmp_path / "m.tflite", "--runs", "1")
    assert 'error[S603]: TensorFlow Lite Micro refuses model "m"' in done.err
    assert "or pip install ai-edge-litert" in done.err
