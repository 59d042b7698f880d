"""`usmp-build ops`: which operators of a model run here, and what to do about the others."""

import json
from pathlib import Path

import pytest

from tests.support.cli import RAM_AND_FLASH, call, manifest, succeed

TENSORS = """
  %0 "image" int8[1,4,4,2] scale=0.1 zero=3
  %1 "doubled" int8[1,4,4,2] scale=0.1 zero=3
  %2 "rows" int8[1,4,8] scale=0.1 zero=3
  %3 "secret" int8[1,4,8] scale=0.1 zero=3
  %4 "words" string[1]
  %5 "unread" int8[1,4,8] scale=0.1 zero=3
"""
MODEL = f"""model "m"
subgraph 0 "main"
{TENSORS}
  inputs %0
  outputs %3, %4
  %1 = RELU(%0) @0
  %2 = RESHAPE(%1) @1
  %3 = "CUSTOM:SECRET"(%2) @2
  %4 = "CUSTOM:SPELL"(%3) @3
  %5 = RELU(%2) @4
"""
EXPECTED = """\
model  operator       types           count  runs
m      RELU           int8 -> int8        1  by rows: requantize_s8_s8
m      RESHAPE        int8 -> int8        1  nothing runs: it is a view
m      CUSTOM:SECRET  int8 -> int8        1  needs a function of yours: the reference library has no kernel of this kind
m      CUSTOM:SPELL   int8 -> string      1  planned only: the reference library has no kernel of this kind
m      RELU           int8 -> int8        1  nothing runs: a rewrite removes it

m: 3 of 5 operators run
needs a function of yours: run it on a target with kernels = "extern" (docs/targets.md)
planned only: "usmp-build plan" shows the plan, and no C can be generated for it
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.model.txt"
    path.write_text(MODEL, encoding="utf-8")
    return path


def test_each_operator_says_whether_it_runs(model: Path) -> None:
    done = call("ops", model)
    assert (done.code, done.out, done.err) == (0, EXPECTED, "")


def test_json_has_each_operator_by_itself(model: Path) -> None:
    operators = json.loads(call("ops", model, "--json").out)
    assert [each["operator"] for each in operators] == [0, 1, 2, 3, 4]
    assert operators[2] == {
        "model": "m",
        "subgraph": 0,
        "operator": 2,
        "kind": "CUSTOM:SECRET",
        "inputs": ["int8"],
        "outputs": ["int8"],
        "support": "needs a function of yours",
        "how": "the reference library has no kernel of this kind",
        "functions": [],
        "declined": [],
        "way_out": "",
    }


def test_a_manifest_says_who_runs_what(model: Path, tmp_path: Path) -> None:
    """With a target for it, the application's function runs the custom operator."""
    place = '[[models.m.place]]\noperators = "CUSTOM:SECRET"\ntarget = "npu"\n'
    target = '[targets.npu]\nkernels = "extern"\n'
    text = f'{RAM_AND_FLASH}[models.m]\npath = "{model.name}"\n{place}{target}'
    done = succeed("ops", manifest(tmp_path, text))
    lines = done.out.splitlines()
    (secret,) = [line for line in lines if "CUSTOM:SECRET" in line]
    assert secret.endswith("1  whole: npu_custom_secret_s8")


def test_undefined_arithmetic_is_a_reason(tmp_path: Path) -> None:
    """`generate` reports it as an error; here the other operators count, too."""
    path = tmp_path / "m.model.txt"
    text = 'model "m"\nsubgraph 0 "main"\n  %0 "x" int8[8] scale=0.1 zero=3\n  %1 "y" int8[8]\n'
    path.write_text(f"{text}  inputs %0\n  outputs %1\n  %1 = RELU(%0) @0\n", encoding="utf-8")
    done = call("ops", path)
    assert done.code == 0
    assert 'needs a function of yours: it needs the scale of tensor 1 "y", which has none' in done.out


def test_an_unreadable_model_is_the_error_of_every_verb(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(b"nothing")
    done = call("ops", tmp_path / "m.tflite")
    assert (done.code, done.out) == (1, "")
    assert "error[T201]: not a TensorFlow Lite model" in done.err
