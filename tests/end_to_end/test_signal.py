"""Operators of the signal library that remember something: several runs and a reset, as in TensorFlow Lite Micro."""

import os
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import call, manifest, one_model, succeed
from tests.support.flatfile import flatfile
from tests.support.signal_models import STATEFUL, features
from tests.support.tools import needs_gcc, needs_oracle

COUNT = int(os.environ.get("USMP_CASES", "8"))
"""Models of each kind: all are in one firmware."""


@pytest.mark.slow
@needs_gcc
@needs_oracle
@pytest.mark.drawn("kind")
@pytest.mark.parametrize("kind", STATEFUL)
def test_runs_and_resets_equal_tflm(kind: str, tmp_path: Path) -> None:
    models = []
    for number in range(COUNT):
        name = f"{kind}_{number}"
        (tmp_path / f"{name}.tflite").write_bytes(flatfile(STATEFUL[kind](np.random.default_rng(number))))
        models.append(one_model(name, path=f"{name}.tflite"))
    path = manifest(tmp_path, models[0] + "".join(text[text.index("[models") :] for text in models[1:]))
    done = succeed("selftest", path, "--runs", "12", "--sanitize")
    assert done.out.count("12 runs, all equal to those of TensorFlow Lite Micro") == COUNT
    succeed("selftest", path, "--accesses")


@pytest.mark.slow
@needs_gcc
@needs_oracle
def test_features_of_speech_equal_tflms(tmp_path: Path) -> None:
    """Nine operators in a row, of which one remembers something: every tensor."""
    (tmp_path / "speech.tflite").write_bytes(flatfile(features(np.random.default_rng(3))))
    path = manifest(tmp_path, one_model("speech", path="speech.tflite"))
    done = succeed("selftest", path, "--runs", "20", "--sanitize")
    assert "11 tensors, 20 runs, all equal to those of TensorFlow Lite Micro" in done.out


EXTERN = '[targets.cpu]\nkernels = "extern"\n'


def test_a_kernel_of_the_application_keeps_its_own_state(tmp_path: Path) -> None:
    """It gets the operands of the file, and the options by their names."""
    (tmp_path / "delay.tflite").write_bytes(flatfile(STATEFUL["delay"](np.random.default_rng(1))))
    path = manifest(tmp_path, EXTERN + one_model("delay", path="delay.tflite"))
    assert call("generate", path, "--out", tmp_path / "out").code == 0
    header = next((tmp_path / "out").glob("*_kernels.h")).read_text("utf-8")
    assert "int32_t delay_length;" in header
    assert "state" not in header
