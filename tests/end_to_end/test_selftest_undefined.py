"""What has no defined value is left out of the comparison, and counted; what is computed from it is compared."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import call, succeed
from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write
from tests.support.tools import needs_c, needs_oracle
from usmp_build.importers.tflite import read_tflite
from usmp_build.selftest.inputs import samples
from usmp_build.selftest.undefined import shifted_too_far

pytestmark = pytest.mark.slow

VARIABLE = Node("VarHandleOptions", Container="", SharedName="bias")


def quotient(scale: float = 1.0) -> bytes:
    """RELU of x / y, of int8; scales of the inputs are 1, and y is 0 where it is -128."""
    tensors = [
        tensor("x", (3, 16), Quantization=quantization([1.0], [0])),
        tensor("y", (3, 16), Quantization=quantization([1.0], [-128])),
        tensor("q", (3, 16), Quantization=quantization([scale], [0])),
        tensor("z", (3, 16), Quantization=quantization([scale], [0])),
    ]
    operators = [operator("DIV", [0, 1], [2], Node("DivOptions")), operator("RELU", [2], [3])]
    return write(model(subgraph(tensors, operators, [0, 1], [2, 3])))


def lost(first: bool = False) -> bytes:
    """x + bias, where `bias` is a variable that nothing assigns; with `first`, CALL_ONCE does."""
    tensors = [tensor(name, (1, 4), dtype) for name, dtype in (("x", "FLOAT32"), ("bias", "FLOAT32"), ("y", "FLOAT32"))]
    tensors += [tensor("handle", (), "RESOURCE"), tensor("z", (1, 4), "FLOAT32")]
    operators = [
        operator("VAR_HANDLE", [], [3], VARIABLE),
        operator("READ_VARIABLE", [3], [1], Node("ReadVariableOptions")),
        operator("ADD", [0, 1], [2], Node("AddOptions")),
        operator("EXP", [2], [4]),
    ]
    once = subgraph(
        [tensor("", (), "RESOURCE"), tensor("", (1, 4), "FLOAT32", Buffer=1)],
        [
            operator("VAR_HANDLE", [], [0], VARIABLE),
            operator("ASSIGN_VARIABLE", [0, 1], [], Node("AssignVariableOptions")),
        ],
    )
    if first:
        operators.insert(0, operator("CALL_ONCE", [], [], Node("CallOnceOptions", InitSubgraphIndex=1)))
    main = subgraph(tensors, operators, [0], [4])
    return write(model(main, once, data=[np.ones(4, np.float32).tobytes()]))


def lost_in_a_branch() -> bytes:
    """The negative of x + bias, or of x; which one an input tells."""
    floats = [tensor(name, (1, 4), "FLOAT32") for name in ("x", "y", "z")]
    main = [
        operator("IF", [3, 0], [1], Node("IfOptions", ThenSubgraphIndex=1, ElseSubgraphIndex=2)),
        operator("NEG", [1], [2]),
    ]
    plus = [
        operator("VAR_HANDLE", [], [1], VARIABLE),
        operator("READ_VARIABLE", [1], [2], Node("ReadVariableOptions")),
        operator("ADD", [0, 2], [3], Node("AddOptions")),
    ]
    in_branch = [floats[0], tensor("handle", (), "RESOURCE"), tensor("bias", (1, 4), "FLOAT32"), floats[1]]
    return write(
        model(
            subgraph([*floats, tensor("c", (1,), "BOOL")], main, [0, 3], [2]),
            subgraph(in_branch, plus, [0], [3]),
            subgraph([floats[0], floats[1]], [operator("RELU", [0], [1])], [0], [1]),
        )
    )


@needs_c
@needs_oracle
def test_undefined_quotients_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(quotient())
    read = read_tflite(quotient(), "m")
    runs = [shifted_too_far(read.main.operators[0], read.main, each) for each in samples(read, 3, 1)]
    count = sum(int(run.sum()) for run in runs)
    assert 0 < count < 48
    done = succeed("selftest", tmp_path / "m.tflite", "--runs", "3")
    assert done.out.splitlines() == [
        "m: 2 tensors, 3 runs, all equal to those of TensorFlow Lite Micro",
        f'm: not compared: {count} of 144 elements of tensor 2 "q", which are undefined: '
        "TensorFlow Lite Micro shifts them by more than 31 bits",
    ]


@needs_c
@needs_oracle
@pytest.mark.parametrize(("operator", "tensor"), [(0, 2), (1, 3)])
def test_faults_in_and_behind_quotients_are_detected(operator: int, tensor: int, tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(quotient())
    compiler = tmp_path / "cc"
    planted = f's/USMP_TRACE("m", {operator}, /for (int i = 0; i < 48; ++i) {{ t{tensor}[i] ^= 64; }} &/'
    compiler.write_text(f"#!/bin/sh\nsed -i '{planted}' m.c\nexec cc \"$@\"\n", encoding="utf-8")
    compiler.chmod(0o755)
    done = call("selftest", tmp_path / "m.tflite", "--cc", compiler)
    assert (done.code, done.out) == (4, "")
    assert f'error[S604]: model "m", run 0, operator {operator} (' in done.err


def test_which_quotients_are_undefined() -> None:
    """Worked out one by one: the shift of the product, of the reciprocal, and of the dividend that was moved up."""
    for scale, shift in ((1.0, 1), (0.25, 3), (2.0**-20, 21)):
        graph = read_tflite(quotient(scale), "m").main
        x, y = np.meshgrid(np.arange(-128, 128, 5), np.arange(-128, 128, 3))
        mask = shifted_too_far(graph.operators[0], graph, [x.astype(np.int8), y.astype(np.int8)])
        for a, b, is_undefined in zip(
            x.ravel().tolist(), (y + 128).ravel().tolist(), mask.ravel().tolist(), strict=True
        ):
            up = 32 - (2 * abs(a) - (a < 0)).bit_length()
            down = 31 - (32 - b.bit_length()) + up - shift
            assert is_undefined == (down > 31), (scale, a, b)
        assert mask.any() == (scale > 2.0**-20)


@needs_c
def test_a_variable_that_nothing_assigns_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(lost())
    (tmp_path / "right.tflite").write_bytes(lost(first=True))
    warning = (
        'm.tflite: warning[T280]: model "m" reads variable "bias", to which nothing assigns a value: it is zero here\n'
        "help: its conversion lost a weight, such as a bias: convert it again, and compare it with the original\n"
    )
    for options in (["plan"], ["generate", "--out", tmp_path / "out"]):
        done = call(options[0], tmp_path / "m.tflite", *options[1:])
        assert done.code == 0
        assert warning in done.err
        assert "T280" not in call(options[0], tmp_path / "right.tflite", *options[1:]).err


@needs_c
@needs_oracle
def test_elements_read_from_it_are_left_out_and_results_computed_from_it_compared(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(lost())
    (tmp_path / "right.tflite").write_bytes(lost(first=True))
    done = succeed("selftest", tmp_path / "m.tflite", "--runs", "3")
    equal, left_out = done.out.splitlines()
    assert equal.endswith(", 3 runs, all equal to those of TensorFlow Lite Micro")
    assert left_out == (
        'm: not compared: 12 of 12 elements of tensor 1 "bias", which are undefined: '
        "they are read from a variable that nothing assigns"
    )
    assert "not compared" not in call("selftest", tmp_path / "right.tflite", "--runs", "3").out


@needs_c
@needs_oracle
def test_what_a_branch_may_read_from_it_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(lost_in_a_branch())
    done = succeed("selftest", tmp_path / "m.tflite", "--runs", "4")
    equal, left_out = done.out.splitlines()
    assert equal.startswith("m: 2 tensors, those of 2 subgraphs not compared, 4 runs, all equal")
    assert left_out.startswith('m: not compared: 16 of 16 elements of tensor 1 "y", which are undefined: ')
