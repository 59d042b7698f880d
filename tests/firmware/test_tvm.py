"""An ONNX model and a .tflite model in one plan, by CMake on a board: they share memory, and both are right."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.support import firmware
from tests.support.cli import DATA
from tests.support.firmware import Board
from tests.support.tree import text_file
from tests.support.tvm import PYTHON, needs_tvm, write_models

MANIFEST = """
[project]
name = "firmware"
[pools.sram]
access = "rw"
region = "SRAM"
[pools.flash]
access = "ro"
region = "FLASH"
[models.net]
path = "quantized.onnx"
[models.digits]
path = "{}"
"""
MAIN = text_file("firmware_tvm.c")


def expected() -> list[int]:
    """What `quantized` of tests/support/tvm_models.py computes, in integers."""
    weights = np.random.default_rng(1).integers(-9, 9, (16, 4))
    sums = (7 * np.arange(16) - 50 - 3) @ weights  # of the scale 0.02 * 0.01; the output's is 0.05
    return [int(value) for value in np.clip(np.rint(np.maximum(sums, 0) * 0.004) + 3, -128, 127)]


@needs_tvm
@pytest.mark.usefixtures("board")
@firmware.on("m4")
def test_both_are_right_in_turn(board: Board, tmp_path: Path) -> None:
    write_models(tmp_path, "quantized")
    (tmp_path / "usmp.toml").write_text(MANIFEST.format((DATA / "digits.tflite").as_posix()), encoding="utf-8")
    (tmp_path / "main.c").write_text(MAIN, encoding="utf-8")
    elf = firmware.build(
        board, tmp_path / "build", manifest=tmp_path / "usmp.toml", main=tmp_path / "main.c",
        python=f"-DUSMP_BUILD_PYTHON={PYTHON}",
    )  # fmt: skip
    done = firmware.run(board, elf, tmp_path)
    assert done.code == 0, done.err
    assert [int(word) - 128 for word in re.findall(r"\d+", done.out)] == expected() * 2
    assert len({*expected()}) > 1
