"""Processes that we start: nothing of the current folder runs in them, and they take no more than they may."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.tree import ROOT
from usmp_build.processes import Unfinished, program, run_module, run_program

HOSTILE = "raise SystemExit('taken from the current folder')\n"


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, full of modules and programs with the names of others; Python and PATH look there, too."""
    for name in ("json", "numpy", "runpy", "tempfile", "tflite_micro", "tvm", "usmp_build"):
        (tmp_path / f"{name}.py").write_text(HOSTILE, encoding="utf-8")
    (tmp_path / "cc").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (tmp_path / "cc").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", ".", str(tmp_path), *sys.path])
    monkeypatch.setenv("PYTHONPATH", f".:{tmp_path}")
    return tmp_path


def module(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a module that this process could import; return its name."""
    folder.mkdir()
    (folder / "started.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return "started"


@pytest.mark.usefixtures("beside")
def test_python_imports_nothing_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "import json, os, sys, numpy, usmp_build\nprint(json.dumps([usmp_build.__file__, os.listdir(), sys.argv[1:]]))"
    )
    done = run_module(module(tmp_path / "a", text, monkeypatch), ["x", "-y"], seconds=60, memory=1 << 30)
    assert done.code == 0, done.text
    assert json.loads(done.out) == [str(ROOT / "usmp_build" / "__init__.py"), [], ["x", "-y"]]


@pytest.mark.parametrize("folders", ["", ".", ":", "bin", "./bin:.."])
def test_programs_are_not_looked_up_in_the_current_folder(
    beside: Path, monkeypatch: pytest.MonkeyPatch, folders: str
) -> None:
    (beside / "bin").mkdir()
    (beside / "cc").rename(beside / "bin" / "cc")
    (beside / "cc").symlink_to("bin/cc")
    monkeypatch.setenv("PATH", folders)
    assert program("cc") is None
    with pytest.raises(FileNotFoundError):
        run_program(["cc"], 60)
    assert run_program(["/bin/sh", "-c", "echo $PATH"], 60).out == os.defpath.encode() + b"\n"
    monkeypatch.setenv("PATH", f"{folders}:/usr/bin:/bin")
    assert run_program(["sh", "-c", "echo $PATH"], 60).out == b"/usr/bin:/bin\n"
    assert run_program(["./cc"], 60, folder=Path("/")).code == 1  # asked for by its path


def test_memory_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = module(tmp_path / "a", "import sys\nprint(len(bytearray(int(sys.argv[1]))))", monkeypatch)
    assert run_module(name, [str(100 << 20)], seconds=60, memory=1 << 28).out == b"104857600\n"
    done = run_module(name, [str(300 << 20)], seconds=60, memory=1 << 28)
    assert (done.code, done.out, done.reason) == (1, b"", "it needs more memory than it may take")


def test_time_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = module(tmp_path / "a", "while True: pass", monkeypatch)
    with pytest.raises(Unfinished, match=r"it did not end within 0\.5 seconds"):
        run_module(name, [], seconds=0.5, memory=1 << 28)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("raise ValueError('so')", "ValueError: so"), ("import os\nos.abort()", ""), ("raise SystemExit(3)", "")],
)
def test_the_last_line_is_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, reason: str) -> None:
    done = run_module(module(tmp_path / "a", text, monkeypatch), [], seconds=60, memory=1 << 28)
    assert done.code != 0
    assert done.reason == reason
