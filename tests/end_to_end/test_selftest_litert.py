"""`selftest` compares with LiteRT what TensorFlow Lite Micro refuses."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import call
from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write
from tests.support.flatfile import flatfile
from tests.support.kernels.drawing import Case, activation, case, constant
from tests.support.list_writes import doubling
from tests.support.packages import stand_in
from tests.support.tools import needs_c, needs_oracle
from usmp_build.ir.graph import DType
from usmp_build.selftest import oracle

INTERPRETER = """
import enum

import numpy as np

OpResolverType = enum.Enum("OpResolverType", "BUILTIN_REF BUILTIN_WITHOUT_DEFAULT_DELEGATES")


class Interpreter:
    def __init__(self, model_content, experimental_op_resolver_type, experimental_preserve_all_tensors):
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


@pytest.mark.slow
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


def between() -> bytes:
    """ADD, TILE and MUL of int8, in a row; the last one makes more of small differences than LiteRT may have."""
    q = quantization([0.5], [0])
    tensors = [
        *(tensor(name, (size,), Quantization=q) for name, size in (("x", 4), ("a", 4), ("b", 8), ("c", 8))),
        tensor("times", (1,), "INT32", Buffer=1),
    ]
    operators = [
        operator("ADD", [0, 0], [1], Node("AddOptions")),
        operator("TILE", [1, 4], [2]),
        operator("MUL", [2, 2], [3], Node("MulOptions")),
    ]
    return write(model(subgraph(tensors, operators, [0], [3]), data=[np.array([2], np.int32).tobytes()]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("off", "fault", "says"),
    [
        (2, None, "m: 3 tensors, 10 runs, all equal to those of TensorFlow Lite Micro, and of LiteRT for TILE\n"),
        (4, None, 'run 0, operator 1 (TILE), tensor 2 "b" int8[8]: 8 of 8 elements differ'),
        (0, 0, 'run 0, operator 0 (ADD), tensor 1 "a" int8[4]: 1 of 4 elements differ'),
        (0, 1, 'run 0, operator 1 (TILE), tensor 2 "b" int8[8]: 1 of 8 elements differ'),
        (2, 2, 'run 0, operator 2 (MUL), tensor 3 "c" int8[8]: 1 of 8 elements differ'),
    ],
)
def test_each_operator_is_judged_by_its_own_oracle(
    off: int, fault: int | None, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LiteRT computes TILE only, and MUL goes on with ours; `fault` is the position of an operator that is wrong."""
    stand_in(INTERPRETER.replace("+ np.array(OFF,", f"^ np.array({off},"), tmp_path, monkeypatch)
    (tmp_path / "m.tflite").write_bytes(between())
    compiler = tmp_path / "cc"
    planted = "" if fault is None else f"sed -i 's/USMP_TRACE(\"m\", {fault}, /t{fault + 1}[0] ^= 64; &/' m.c\n"
    compiler.write_text(f'#!/bin/sh\n{planted}exec cc "$@"\n', encoding="utf-8")
    compiler.chmod(0o755)
    done = call("selftest", tmp_path / "m.tflite", "--cc", compiler)
    assert says in done.out + done.err, done.err
    assert done.code == (0 if done.out else 4)
    assert ("LiteRT rounds elsewhere" in done.err) == ("(TILE)" in says)


def test_loops_that_write_rows_are_compared_with_litert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow Lite Micro would write beyond its tensors, and is neither asked nor given such a model."""
    results = "{4: np.array(4, np.int32), 5: self.data, 2: 2 * self.data}[index]"
    repeated = "np.tile(self.data, 2) + np.array(OFF, self.data.dtype)"
    looped = INTERPRETER.replace("        assert index == 2\n", "").replace(repeated, results)
    stand_in(looped, tmp_path, monkeypatch)
    (tmp_path / "m.tflite").write_bytes(flatfile(*doubling()))
    done = call("selftest", tmp_path / "m.tflite")
    assert "m: 3 tensors, those of 2 subgraphs not compared, 10 runs, all equal to those of LiteRT" in done.out
    refused = call("export", "tflm", tmp_path / "m.tflite", "--out", tmp_path / "out")
    assert "error[T247]" in refused.err
    assert "unroll=True" in refused.err


def test_without_litert_there_is_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "LITERT", ("no_such_package",))
    (tmp_path / "m.tflite").write_bytes(flatfile(repeated(DType.INT8).graph))
    done = call("selftest", tmp_path / "m.tflite", "--runs", "1")
    assert 'error[S603]: TensorFlow Lite Micro refuses model "m"' in done.err
    assert "or pip install ai-edge-litert" in done.err
