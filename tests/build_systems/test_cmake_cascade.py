"""examples/cascade, built as it is: what one model finds is intact for three runs of another, with a third between."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.cmake import PYTHON, Project, need
from tests.support.examples import EXAMPLES, printed

EXAMPLE = EXAMPLES / "cascade"


def test_three_questions_about_each_picture(tmp_path: Path, find: str) -> None:
    need("Unix Makefiles")
    project = Project(EXAMPLE, tmp_path / "build")
    project.configure(find, PYTHON, "-DCMAKE_C_FLAGS=-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror")
    project.build()
    done = subprocess.run([project.binary / "watcher"], capture_output=True, text=True, check=False)
    assert done.stdout == (
        "3 questions about each of 2 pictures: 6 of 6 answers equal those of TensorFlow Lite Micro\n"
    )
    assert [done.stdout] == printed("cascade")
    assert done.returncode == 0


def test_every_tensor_is_bit_exact() -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    done = call("selftest", EXAMPLE / "usmp.toml", "--sanitize")
    assert done.code == 0, done.err
    assert "expert: 3 tensors, 10 runs, all equal to those of TensorFlow Lite Micro" in done.out


def test_the_listener_is_in_the_way() -> None:
    """It uses bytes of both others, and none of what goes from one to the other."""
    buffers = json.loads(call("plan", EXAMPLE / "usmp.toml", "--json").out)["buffers"]
    (between,) = [b for b in buffers if b["kind"] == "connection"]
    assert (between["model"], between["shared_with"]) == ("detector", ["expert"])
    own = [b for b in buffers if b["model"] == "listener" and b["pool"] == "sram"]
    assert all(b["offset"] >= ends(between) or between["offset"] >= ends(b) for b in own)
    for model in ("detector", "expert"):
        others = [b for b in buffers if b["model"] == model and b["pool"] == "sram" and b is not between]
        assert any(b["offset"] < ends(c) and c["offset"] < ends(b) for b in own for c in others)


def ends(buffer: dict[str, int]) -> int:
    return buffer["offset"] + buffer["size"]
