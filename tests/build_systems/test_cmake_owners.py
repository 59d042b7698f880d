"""examples/instances and examples/weights, built as they are: arrays of the application, and weights as files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.cmake import PYTHON, Project, need
from tests.support.examples import EXAMPLES, printed

CLEAN = "-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
WEIGHTS = EXAMPLES / "weights"


@pytest.mark.parametrize("flags", ["", " -fsanitize=thread"], ids=["plain", "threads"])
def test_two_instances_run_at_once(tmp_path: Path, find: str, flags: str) -> None:
    need("Unix Makefiles")
    project = Project(EXAMPLES / "instances", tmp_path / "build")
    project.configure(find, PYTHON, f"-DCMAKE_C_FLAGS={CLEAN}{flags}")
    project.build()
    done = subprocess.run([project.binary / "desk"], capture_output=True, text=True, check=False)
    lines = [f"clerk {i}: 1600 of 1600 outputs equal those of TensorFlow Lite Micro\n" for i in range(2)]
    assert (done.returncode, done.stdout, done.stderr) == (0, "".join(lines), "")
    assert [done.stdout] == printed("instances")


def test_weights_are_exchanged(tmp_path: Path, find: str) -> None:
    need("Unix Makefiles")
    project = Project(WEIGHTS, tmp_path / "build")
    project.configure(find, PYTHON, f"-DCMAKE_C_FLAGS={CLEAN}")
    project.build()
    program = project.binary / "meter"
    assert said(program) == "levels 100 and -60\n"
    assert said(program, other(tmp_path, "retrained")) == "updated: levels 28 and -39\n"
    refused = "the update is damaged, or for another program: levels 100 and -60\n"
    assert said(program, other(tmp_path, "recalibrated")) == refused
    cut = tmp_path / "cut.bin"
    cut.write_bytes(other(tmp_path, "retrained").read_bytes()[:-1])
    assert said(program, cut) == refused
    assert printed("weights") == ["levels 100 and -60\n", "updated: levels 28 and -39\n", refused]


def test_other_weights_compile_nothing_but_the_application(tmp_path: Path, find: str) -> None:
    need("Unix Makefiles")
    files = ("CMakeLists.txt", "usmp.toml", "main.c", "gauge.model.txt")
    source = tmp_path / "source"
    source.mkdir()
    for name in files:
        (source / name).write_bytes((WEIGHTS / name).read_bytes())
    project = Project(source, tmp_path / "build")
    project.configure(find, PYTHON)
    project.build()
    (source / "gauge.model.txt").write_bytes((WEIGHTS / "retrained.model.txt").read_bytes())
    assert project.build() == ["compile main.c", "link meter", "plan"]
    assert said(project.binary / "meter") == "levels 28 and -39\n"


def other(folder: Path, model: str) -> Path:
    """Generate the weights of another model of the same name."""
    where = folder / model
    name = f"gauge={WEIGHTS / model}.model.txt"
    done = call("generate", WEIGHTS / "usmp.toml", "--model", name, "--out", where)
    assert done.code == 0, done.err
    return where / "meter_weights.bin"


def said(program: Path, *arguments: Path) -> str:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    return done.stdout
