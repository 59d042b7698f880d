"""Kernels of the application: they are declared, called and compiled in, and what is missing is told by name."""

import re
from pathlib import Path

import pytest

from tests.support.cli import call, manifest, one_model, planned, says, succeed
from tests.support.flatbuffer import model as flat_model
from tests.support.flatbuffer import operator, subgraph, tensor, write
from tests.support.host_c import STRICT
from tests.support.processes import output
from tests.support.tools import few, need
from tests.support.tree import ROOT

EXAMPLE = ROOT / "examples" / "accelerator"
PLACED = """
[targets.npu]
kernels = "extern"

[[targets.npu.rules]]
operators = "*CONV_2D"
scratch = 256
alignment = 16

[[models.digits.place]]
operators = "*CONV_2D"
target = "npu"
"""
EXTERN = '[targets.cpu]\nkernels = "extern"\n'
COMPILERS = [["gcc", "-std=c99"], ["g++", "-x", "c++", "-std=c++17"], ["clang", "-std=c99"]]
CONVOLUTIONS = ["meter_npu_conv_2d_s8", "meter_npu_depthwise_conv_2d_s8"]


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    """A manifest whose convolutions run on the accelerator; all memory is reached by both."""
    return manifest(tmp_path, one_model("digits", PLACED).replace('"p"', '"meter"'))


@pytest.fixture
def npu(tmp_path: Path) -> Path:
    """The accelerator of the example, less its copies: here, all memory is reached by both."""
    text = (EXAMPLE / "npu.c").read_text("utf-8")
    cut = re.sub(r"/\* The accelerator's memory.*?\n}\n", "", text, flags=re.DOTALL)
    assert cut != text
    (tmp_path / "npu.h").write_bytes((EXAMPLE / "npu.h").read_bytes())
    (tmp_path / "npu.c").write_text(cut, "utf-8")
    return tmp_path / "npu.c"


def replace(source: Path, old: str, new: str) -> None:
    text = source.read_text("utf-8")
    assert old in text
    source.write_text(text.replace(old, new), "utf-8")


@pytest.mark.slow
def test_the_accelerator_of_the_example_is_bit_exact(digits: Path, npu: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    done = succeed("selftest", digits, "--source", npu, "--sanitize", "--runs", 20)
    assert "digits: 8 tensors, 20 runs, all equal to those of TensorFlow Lite Micro" in done.out


def test_functions_without_a_source(digits: Path) -> None:
    done = call("selftest", digits)
    assert done.code == 4
    assert (
        f"error[S607]: the test program lacks functions that the application supplies: {', '.join(CONVOLUTIONS)}"
        in (done.err)
    )
    assert "--source FILE" in done.err


def test_a_source_that_lacks_a_function(digits: Path, npu: Path) -> None:
    replace(npu, "void meter_npu_depthwise", "void other_npu_depthwise")
    done = call("selftest", digits, "--source", npu)
    says(done, 4, f"error[S607]: the test program lacks functions that {npu} should have: {CONVOLUTIONS[1]}\n")


def test_a_source_that_does_not_compile(digits: Path, tmp_path: Path) -> None:
    source = tmp_path / "broken.c"
    source.write_text("int broken(\n", "utf-8")
    done = call("selftest", digits, "--source", source)
    says(done, 4, f"error[S601]: the generated code, with {source}, does not compile")


def test_a_source_that_is_not_there(digits: Path) -> None:
    says(call("selftest", digits, "--source", "nowhere.c"), 2, 'error[U213]: there is no file "nowhere.c"')


def test_wrong_results_are_the_application_s_first(digits: Path, npu: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    replace(npu, "value += zero;", "value += zero + 1;")
    says(call("selftest", digits, "--source", npu), 4, "error[S604]", "help: look at the application's functions first")


def test_the_plan_names_the_functions(digits: Path) -> None:
    (model,) = planned(digits)["models"]
    assert model["extern_functions"] == CONVOLUTIONS
    assert call("plan", digits).out.endswith(
        "the application supplies these functions (meter_kernels.h declares them):\n"
        + "".join(f"  {name}\n" for name in CONVOLUTIONS)
    )


@pytest.mark.parametrize(
    "name", few(["digits", "kitchen_a", "kitchen_b", "float_net", "quantized_io", "lstm_unrolled"], 2)
)
@pytest.mark.parametrize("command", COMPILERS, ids=lambda command: command[0])
def test_a_model_of_such_kernels_alone_compiles(tmp_path: Path, name: str, command: list[str]) -> None:
    need(command[0])
    succeed("generate", manifest(tmp_path, EXTERN + one_model(name)), "--out", tmp_path / "out")
    sources = sorted(path.name for path in (tmp_path / "out").glob("*.c"))
    output([*command, *STRICT.split(), "-fsyntax-only", *sources], tmp_path / "out")


def test_generate_names_the_functions(digits: Path, tmp_path: Path) -> None:
    out = call("generate", digits, "--out", tmp_path / "out").out
    assert out.splitlines()[-3:] == call("plan", digits).out.splitlines()[-3:]


def test_what_has_no_kernel_here_runs_there(tmp_path: Path) -> None:
    """The operators of subgraphs do, too; what decides between them is generated."""
    done = succeed("generate", manifest(tmp_path, EXTERN + one_model("control")), "--out", tmp_path / "out")
    assert "p_cpu_less_" in done.out
    assert "for (;;) {" in (tmp_path / "out" / "control.c").read_text("utf-8")


HOSTILE = ["foo", "a b", "*/ int evil(void); /*\n#error x", '#include "/etc/hostname"', "日本", "int", "1" * 300]


@pytest.mark.parametrize("compiler", COMPILERS, ids=lambda command: command[0])
def test_custom_operators_are_called_whatever_their_names_are(tmp_path: Path, compiler: list[str]) -> None:
    need(compiler[0])
    names = [f"t{i}" for i in range(len(HOSTILE) + 1)]
    tensors = [tensor(name, (4,)) for name in names]
    operators = [operator(f"CUSTOM:{code}", [i], [i + 1]) for i, code in enumerate(HOSTILE)]
    root = flat_model(subgraph(tensors, operators, [0], [len(HOSTILE)]))
    (tmp_path / "c.tflite").write_bytes(write(root))
    text = f'[project]\nname = "p"\n[pools.sram]\naccess = "rw"\n[models.c]\npath = "c.tflite"\n{EXTERN}'
    folder = tmp_path / "out"
    succeed("generate", manifest(tmp_path, text), "--out", folder)
    output([*compiler, *STRICT.split(), "-c", "c.c", "-o", "c.o"], folder)
    code = re.sub(r"/\*.*?\*/", "", (folder / "c.c").read_text("utf-8"), flags=re.DOTALL)
    assert "evil" not in code.replace("int_evil_void", "")
    assert "hostname" not in code.replace("include_etc_hostname", "")
