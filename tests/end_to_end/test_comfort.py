"""Verbs and answers for whoever sits in front of it: watch, doctor, completion of command lines."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from tests.support.cli import DATA, call_apart, manifest, one_model
from tests.support.tree import ROOT


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A `watch` of one model, `m.tflite`, that has begun."""
    shutil.copyfile(DATA / "digits.tflite", tmp_path / "m.tflite")
    manifest(tmp_path, one_model("m", path="m.tflite"))
    process = subprocess.Popen(
        [sys.executable, "-m", "usmp_build", "watch", "--out", "out"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a script's background jobs ignore it
    )
    timer = Timer(60, process.kill)  # whatever else goes wrong, reading ends
    timer.start()
    with process:
        yield process
        process.kill()
    timer.cancel()


def says(process: subprocess.Popen[str], text: str) -> bool:
    """Whether it says this, now or later; what comes before is skipped."""
    assert process.stdout
    return any(text in line for line in process.stdout)


@pytest.mark.slow
def test_watch_generates_again_when_files_change(tmp_path: Path, watching: subprocess.Popen[str]) -> None:
    assert says(watching, "files in out")
    before = (tmp_path / "out" / "m.c").read_text(encoding="utf-8")
    (tmp_path / "m.tflite").unlink()
    assert says(watching, "error[M101]")
    shutil.copyfile(DATA / "odd_even.tflite", tmp_path / "m.tflite")
    assert says(watching, "files in out")
    assert (tmp_path / "out" / "m.c").read_text(encoding="utf-8") != before
    (tmp_path / "usmp.toml").write_text("[project", encoding="utf-8")
    assert says(watching, "error[M103]")
    manifest(tmp_path, one_model("m", path="m.tflite"))
    assert says(watching, "files in out")
    assert says(watching, "watching 2 files; Ctrl-C ends")
    watching.send_signal(signal.SIGINT)
    rest, _ = watching.communicate()
    assert watching.returncode == 130
    assert rest.endswith("interrupted\n")  # after what it says where it reads a file that is being written


def test_doctor_knows_what_is_there_and_what_is_missing(tmp_path: Path) -> None:
    tool = tmp_path / "cmake"
    tool.write_text("#!/bin/sh\necho cmake version 3.99.1\n", encoding="utf-8")
    tool.chmod(0o755)
    broken = tmp_path / "make"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    surroundings = {"PATH": str(tmp_path), "CC": "no-such-compiler -m32"}
    done = call_apart("doctor", "--json", env=surroundings)
    versions = {tool["name"]: tool["version"] for tool in json.loads(done.out)}
    assert versions["cmake"] == "3.99.1"
    assert versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert [versions[name] for name in ("make", "ninja", "no-such-compiler -m32")] == [None, None, None]
    table = call_apart("doctor", env=surroundings)
    assert table.code == done.code == 0
    lines = {line.split("  ")[0]: line for line in table.out.splitlines()}
    assert "3.99.1" in lines["cmake"]
    assert "missing" in lines["ninja"]


@pytest.mark.parametrize(
    ("typed", "completions"),
    [("usmp-build ge", {"generate"}), ("usmp-build generate --dep", {"--depfile", "--depfile-target"})],
)
def test_shells_complete_command_lines(tmp_path: Path, typed: str, completions: set[str]) -> None:
    pytest.importorskip("argcomplete", reason="argcomplete is not installed")
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "answer")}
    call_apart(env=asked | {"COMP_LINE": typed, "COMP_POINT": str(len(typed))})
    assert {word.strip() for word in (tmp_path / "answer").read_text(encoding="utf-8").split("\n")} == completions
