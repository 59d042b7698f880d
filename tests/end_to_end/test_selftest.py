"""Every tensor of every model equals TensorFlow Lite Micro's, on this machine, under the sanitizers."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.cli import DATA, TWO_MODELS, call, manifest, one_model
from usmp_build import passes
from usmp_build.cli.selftest import oracle
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.lifetimes import Interval, Lifetimes, Survivors
from usmp_build.ir.schedule import Schedule
from usmp_build.ir.storage import Storage

REAL = ["kws", "vww", "ic", "hello", "micro_speech"]
OURS = ["digits", "odd_even", "branchy", "kitchen_a", "kitchen_b", "quantized_io", "float_net"]

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def succeeds(path: Path, *options: str) -> str:
    done = call("selftest", path, *options)
    assert done.code == 0, done.err
    return done.out


def needs_oracle() -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")


@pytest.mark.parametrize("name", REAL)
def test_real_models(real_models: Path, tmp_path: Path, name: str) -> None:
    needs_oracle()
    path = manifest(tmp_path, one_model(name, path=(real_models / f"{name}.tflite").as_posix()))
    out = succeeds(path, "--sanitize")
    assert "10 runs, all equal to those of TensorFlow Lite Micro" in out
    model = import_tflite((real_models / f"{name}.tflite").read_bytes(), name, "")
    assert out.startswith(f"{name}: {sum(len(op.outputs) for op in model.main.operators)} tensors")


@pytest.mark.parametrize("io", ["pool", "application"])
@pytest.mark.parametrize("name", OURS)
def test_our_models(tmp_path: Path, name: str, io: str) -> None:
    needs_oracle()
    path = manifest(tmp_path, one_model(name, f'io = "{io}"'))
    assert "all equal to those of TensorFlow Lite Micro" in succeeds(path, "--sanitize", "--runs", "10")


def test_models_that_share_their_pools(tmp_path: Path) -> None:
    needs_oracle()
    out = succeeds(manifest(tmp_path, TWO_MODELS), "--sanitize", "--runs", "25")
    assert out.count("all equal to those of TensorFlow Lite Micro") == 2


def test_without_the_oracle_garbage_must_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "find_spec", lambda _: None)
    assert "in other garbage" in succeeds(manifest(tmp_path, TWO_MODELS), "--runs", "2")


def test_stored_goldens_hold_without_the_oracle(tmp_path: Path) -> None:
    """The digits example in one: what TensorFlow Lite Micro said when the goldens were made."""
    with np.load(DATA / "digits.npz") as stored:
        assert stored["images"].shape == (64, 8, 8, 1)
        assert (np.argmax(stored["digits_output"], axis=1) == stored["labels"]).mean() > 0.95
    done = call("demo", "--out", tmp_path / "demo")
    assert done.code == 0, done.err
    assert "32 of 32 outputs equal those of TensorFlow Lite Micro" in done.out
    assert "sharing saves" in done.out


def test_the_first_operator_that_differs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer of the oracle is made wrong; the message must speak of operator 0."""
    needs_oracle()
    original = oracle.oracle_tensors

    def altered(*arguments: Any) -> Any:
        answer = original(*arguments)
        return [{tensor: value + 1 for tensor, value in run.items()} for run in answer or ()]

    monkeypatch.setattr("usmp_build.cli.selftest.oracle_tensors", altered)
    done = call("selftest", manifest(tmp_path, one_model("odd_even")), "--runs", "1")
    assert done.code == 4
    assert "error[S604]" in done.err
    assert "operator 0 (AVERAGE_POOL_2D)" in done.err
    assert "instead of" in done.err


def test_a_lifetime_that_is_cut_short_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No checker of plans can see it, for the plan keeps what it was told; poisoned bytes can."""
    honest = passes.lifetimes

    def cut(schedule: Schedule, storage: Storage, survivors: Survivors) -> Lifetimes:
        found = honest(schedule, storage, survivors)
        names = [buffer.name for buffer in storage.buffers]
        victim = names.index("digits.mix_1/Relu")
        ((start, stop),) = found.intervals[victim]
        intervals = list(found.intervals)
        intervals[victim] = (Interval(start, stop - 1),)
        return Lifetimes(tuple(intervals))

    monkeypatch.setattr(passes, "lifetimes", cut)
    done = call("selftest", manifest(tmp_path, one_model("digits")), "--sanitize", "--runs", "1")
    assert done.code == 4
    assert "error[S602]" in done.err
    assert "use-after-poison" in done.err
