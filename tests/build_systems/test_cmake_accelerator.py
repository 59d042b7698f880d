"""examples/accelerator: built as it is, it copies what it must and computes what TensorFlow Lite Micro does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.cli import call
from tests.support.cmake import PYTHON, Project, need
from tests.support.examples import printed

EXAMPLE = ROOT / "examples" / "accelerator"
FUNCTIONS = ["meter_npu_conv_2d_s8", "meter_npu_copy", "meter_npu_depthwise_conv_2d_s8"]


def test_the_accelerator_runs_its_layers(tmp_path: Path, find: str) -> None:
    need("Unix Makefiles")
    project = Project(EXAMPLE, tmp_path / "build")
    project.configure(find, PYTHON, "-DCMAKE_C_FLAGS=-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror")
    assert "link meter" in project.build()
    done = subprocess.run([project.binary / "meter"], capture_output=True, text=True, check=False)
    assert done.stdout == (
        "the accelerator ran 4 layers for each picture, and 4 copies went to or from its memory\n"
        "16 of 16 outputs equal those of TensorFlow Lite Micro\n"
    )
    assert [done.stdout] == printed("accelerator")
    assert done.returncode == 0


def test_every_tensor_is_bit_exact() -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    done = call("selftest", EXAMPLE / "usmp.toml", "--source", EXAMPLE / "npu.c", "--sanitize")
    assert done.code == 0, done.err
    assert "8 tensors, 10 runs, all equal to those of TensorFlow Lite Micro" in done.out


def test_each_memory_holds_what_its_processor_touches() -> None:
    plan = json.loads(call("plan", EXAMPLE / "usmp.toml", "--json").out)
    assert plan["models"][0]["extern_functions"] == FUNCTIONS
    scratch = [buffer for buffer in plan["buffers"] if buffer["kind"] == "scratch"]
    assert len(scratch) == 4
    for buffer in scratch:
        assert (buffer["pool"], buffer["size"], buffer["alignment"]) == ("npu_sram", 256, 16)
    ports = [buffer["pool"] for buffer in plan["buffers"] if buffer["kind"] in ("input", "output")]
    assert ports == ["sram", "sram"]
