"""Inputs on which TensorFlow Lite Micro aborts: a SOFTMAX with so many equal maxima that its sum overflows."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import stateful
from tests.support.cli import call, manifest, one_model, says, succeed, tables
from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write
from tests.support.tools import needs_c
from tests.support.tree import ROOT
from usmp_build.selftest import oracle

pytestmark = [needs_c, pytest.mark.slow]
ABORTS = "TensorFlow Lite Micro aborts on the inputs of"


@pytest.fixture(autouse=True)
def needs_oracle() -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")


def softmax(folder: Path, classes: int, scale: float) -> Path:
    """A plan of one model: where all inputs are equal, each class is a maximum; with a small scale, nearly so."""
    shape = (1, classes)
    tensors = [
        tensor("x", shape, "INT8", Quantization=quantization([scale], [0])),
        tensor("y", shape, "INT8", Quantization=quantization([1 / 256], [-128])),
    ]
    run = operator("SOFTMAX", [0], [1], Node("SoftmaxOptions", Beta=1.0))
    (folder / "m.tflite").write_bytes(write(model(subgraph(tensors, [run], [0], [1]))))
    return manifest(folder, one_model("m", path="m.tflite"))


def test_runs_that_abort_are_named_and_the_others_compared(tmp_path: Path) -> None:
    """The second and third inputs are the lowest and the highest ones: all equal."""
    done = succeed("selftest", softmax(tmp_path, 512, 1.0))
    assert done.out.splitlines() == [
        "m: 1 tensors, 8 of 10 runs, all equal to those of TensorFlow Lite Micro",
        f"m: not compared: {ABORTS} runs 1, 2 of --seed 1",
    ]
    assert f"```text\n{done.out}```" in (ROOT / "docs" / "cli.md").read_text("utf-8")
    fewer = call("selftest", softmax(tmp_path, 511, 1.0))
    assert fewer.out == "m: 1 tensors, 10 runs, all equal to those of TensorFlow Lite Micro\n"


def test_strict_has_an_exit_code_for_what_was_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = softmax(tmp_path, 512, 1.0)
    done = call("selftest", path, "--strict")
    assert (done.code, done.err) == (6, "")
    assert "8 of 10 runs" in done.out
    assert call("selftest", path, "--strict", "--runs", "1").code == 0
    monkeypatch.setattr(oracle, "find_spec", lambda _: None)
    assert call("selftest", path, "--strict", "--runs", "1").code == 6


def test_a_difference_after_an_abort_is_reported_for_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = oracle.oracle_tensors

    def altered(*arguments: Any) -> Any:
        answers = original(*arguments)
        answers.runs[9][1] = answers.runs[9][1] + 1
        return answers

    monkeypatch.setattr("usmp_build.cli.selftest.oracle_tensors", altered)
    says(call("selftest", softmax(tmp_path, 512, 1.0)), 4, 'error[S604]: model "m", run 9, operator 0 (SOFTMAX)')


@pytest.mark.parametrize(
    ("runs", "which"),
    [
        (1, "run 0 of --seed 7\n"),
        (3, "runs 0, 1, 2 of --seed 7\n"),
        (18, "14, 15 of --seed 7, and was not asked about the 2 runs after that\n"),
    ],
)
@pytest.mark.long
def test_nothing_compared_is_no_success(tmp_path: Path, runs: int, which: str) -> None:
    done = call("selftest", softmax(tmp_path, 600, 1e-3), "--runs", runs, "--seed", 7)
    assert (done.code, done.out) == (4, "")
    assert f'm.tflite: error[S640]: nothing of model "m" was compared: {ABORTS} run' in done.err
    assert which in done.err
    assert "help: try other inputs, by --seed or more --runs, or compare on the target" in done.err


def test_state_that_is_lost_with_an_abort_leaves_nothing_to_compare_with(tmp_path: Path) -> None:
    """What it would remember of the run that it did not end is not known; models without state go on."""
    (tmp_path / "sums.tflite").write_bytes(stateful.sums_and_scores(512))
    softmax(tmp_path, 512, 1.0)
    path = manifest(tmp_path, tables("p", {}, {name: f'path = "{name}.tflite"\n' for name in ("m", "sums")}))
    done = succeed("selftest", path, "--runs", "6")
    ours, sums, lost = done.out.splitlines()[1:]
    assert ours == f"m: not compared: {ABORTS} runs 1, 2 of --seed 1"
    assert sums.startswith("sums: ")
    assert ", 1 of 6 runs, all equal" in sums
    assert lost == f"sums: not compared: {ABORTS} run 1 of --seed 1, and was not asked about the 4 runs after that"
