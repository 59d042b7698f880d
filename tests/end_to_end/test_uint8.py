"""Models of uint8, as TensorFlow 1 quantized them: they run in int8, or the first line says why not."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from checker.main import main
from tests.support.cli import call, succeed
from tests.support.flatfile import flatfile
from tests.support.packages import stand_in
from tests.support.tools import needs_c, needs_oracle
from tests.support.tree import ROOT
from tests.support.uint8 import as_uint8
from usmp_build.importers.tflite import read_tflite
from usmp_build.ir.graph import DType, Quantization, Subgraph

DIGITS = ROOT / "tests" / "data" / "digits.tflite"
INTERPRETER = '''
import enum

import numpy as np
from tflite_micro import runtime

OpResolverType = enum.Enum("OpResolverType", "BUILTIN_REF")


class Interpreter:
    """LiteRT, as far as TensorFlow Lite Micro can be it: it runs the model of int8, and shows values of uint8."""

    def __init__(self, model_content, experimental_op_resolver_type, experimental_preserve_all_tensors):
        keep = runtime.InterpreterConfig.kPreserveAllTensors
        self.int8 = runtime.Interpreter.from_file("INT8", arena_size=1 << 20, intrepreter_config=keep)

    def allocate_tensors(self):
        pass

    def get_input_details(self):
        return [{"index": 0}]

    def set_tensor(self, index, data):
        self.int8.set_input((data ^ 128).view(np.int8), 0)

    def invoke(self):
        self.int8.invoke()

    def get_tensor(self, index):
        data = self.int8._interpreter.GetTensor(index, 0)["tensor_data"]
        return data.view(np.uint8) ^ (128 - OFF) if data.dtype == np.int8 else data
'''
"""A stand-in for LiteRT, OFF from it."""


def one_scale_each(graph: Subgraph) -> Subgraph:
    """Return a graph whose tensors have one scale each, that of their first channel."""
    tensors = (
        replace(
            t, quantization=t.quantization and Quantization(t.quantization.scales[:1], t.quantization.zero_points[:1])
        )
        for t in graph.tensors
    )
    return replace(graph, tensors=tuple(tensors))


def written(graph: Subgraph, folder: Path) -> Path:
    """Write a model of uint8; `int8.tflite` beside it is the same of int8."""
    (folder / "int8.tflite").write_bytes(flatfile(graph))
    path = folder / "digits.tflite"
    path.write_bytes(flatfile(as_uint8(graph)))
    return path


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    return written(one_scale_each(read_tflite(DIGITS.read_bytes(), "digits").main), tmp_path)


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """The first one, which is a segment by itself."""
    whole = one_scale_each(read_tflite(DIGITS.read_bytes(), "digits").main)
    first = whole.operators[0]
    return written(replace(whole, operators=(first,), outputs=first.outputs), tmp_path)


@pytest.mark.slow
@needs_c
@needs_oracle
@pytest.mark.parametrize(("off", "code"), [(0, 0), (3, 4)])
def test_it_is_compared_with_litert(
    layer: Path, off: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = INTERPRETER.replace("INT8", (tmp_path / "int8.tflite").as_posix()).replace("OFF", str(off))
    stand_in(text, tmp_path, monkeypatch)
    done = call("selftest", layer, "--runs", "2")
    assert done.code == code, done.err
    assert ("digits: 1 tensors, 2 runs, all equal to those of LiteRT" if code == 0 else "error[S604]") in (
        done.out + done.err
    )


def test_it_takes_no_more_memory_than_one_of_int8_and_keeps_its_ports(digits: Path, tmp_path: Path) -> None:
    """The application has pixels of uint8; the header says what they stand for."""
    for name in ("digits", "int8"):
        succeed("generate", tmp_path / f"{name}.tflite", "--out", tmp_path / name)
    header = (tmp_path / "digits" / "digits.h").read_text("utf-8")
    assert re.findall(r"^    ((?:const )?u?int8_t) \*\w+;$", header, re.MULTILINE) == ["uint8_t", "const uint8_t"]
    workspaces = [
        next(
            line.split()[2]
            for line in call("plan", tmp_path / f"{name}.tflite").out.splitlines()
            if "workspace" in line
        )
        for name in ("digits", "int8")
    ]
    assert workspaces[0] == workspaces[1]
    assert main([str(tmp_path / "digits" / "plan.json"), str(digits)]) == 0


def with_weights_around(point: int, path: Path) -> None:
    """Give the first convolution of a model weights from one end to the other, with this zero point."""
    graph = read_tflite(path.read_bytes(), "digits").main
    conv = next(op for op in graph.operators if op.kind == "CONV_2D")
    weights = graph.tensors[conv.inputs[1] or 0]
    assert weights.quantization
    ends = np.resize(np.array([0, 255], np.uint8), weights.elements).tobytes()
    quantization = replace(weights.quantization, zero_points=(point,))
    tensors = [replace(t, data=ends, quantization=quantization) if t is weights else t for t in graph.tensors]
    path.write_bytes(flatfile(replace(graph, tensors=tuple(tensors))))


def test_weights_that_int8_cannot_hold_are_named_first(digits: Path, tmp_path: Path) -> None:
    with_weights_around(122, digits)
    done = call("plan", digits)
    first, reason, cure = done.out.splitlines()[:3]
    assert done.code == 0
    assert first.startswith('warning: no C can be generated for model "digits": 1 of ')
    assert "CONV_2D 0: it has no kernel for UINT8: its weights lie up to 255 from their zero point, 122," in reason
    assert "convert the model to int8: converter.optimizations" in cure
    listed = call("ops", digits).out
    assert "its zero point, 122" not in listed.splitlines()[-1]
    assert listed.splitlines()[-1].startswith("convert the model to int8: ")
    shown = call("report", digits, "--out", tmp_path / "report.html")
    assert f"{first}\n{reason}\n{cure}\n" in shown.err
    assert "convert the model to int8: " in (tmp_path / "report.html").read_text("utf-8")
    refused = call("generate", digits, "--out", tmp_path / "out")
    assert "error[P305]: operator 0 (CONV_2D): it has no kernel for UINT8: its weights lie" in refused.err
    assert "help: convert the model to int8: " in refused.err
    assert not (tmp_path / "out").exists()


def nothing_but(kind: str, dtype: DType) -> str:
    """A model of one operator that no kernel runs."""
    name = dtype.name.lower()
    scale = " scale=0.1 zero=3" if dtype is DType.UINT8 else ""
    tensors = "".join(f'  %{i} "{n}" {name}[1,4,4,1]{scale}\n' for i, n in enumerate("xy"))
    return f'model "m"\nsubgraph 0 "main"\n{tensors}  inputs %0\n  outputs %1\n  %1 = "{kind}"(%0) @0\n'


@pytest.mark.parametrize(
    ("kind", "dtype", "code", "cure"),
    [
        ("CUSTOM:FlexErf", DType.FLOAT32, 1, "help: convert the model without tf.lite.OpsSet.SELECT_TF_OPS"),
        ("RELU", DType.FLOAT16, 1, "help: convert the model without target_spec.supported_types = [tf.float16]"),
        ("ELU", DType.UINT8, 1, "help: convert the model to int8"),
        ("CUSTOM:OWN", DType.UINT8, 0, 'warning: no C can be generated for model "m": 1 of 1 operators have no kernel'),
    ],
)
def test_a_model_of_which_nothing_runs(kind: str, dtype: DType, code: int, cure: str, tmp_path: Path) -> None:
    """What the application may supply is no fault."""
    (tmp_path / "m.model.txt").write_text(nothing_but(kind, dtype), encoding="utf-8")
    listed = call("ops", tmp_path / "m.model.txt").out
    assert ("needs a function of yours: " in listed) == (code == 0)
    assert ("1  no C: " in listed) == (code == 1)
    assert call("report", tmp_path / "m.model.txt", "--out", tmp_path / "report.html").code == code
    done = call("plan", tmp_path / "m.model.txt")
    assert done.code == code
    assert cure in done.out + done.err
    if code:
        assert done.out == ""
        assert f'error[P382]: no operator of model "m" runs here: {kind} 0: ' in done.err
