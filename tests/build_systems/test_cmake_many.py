"""CMake: twenty models in ten folders make one plan; where nothing is to be done, nothing of ours runs."""

import sys
from pathlib import Path

from benchmarks.builds import FOLDERS, MODELS_EACH, names, write_with_us, write_without_us
from tests.support.cli import DATA
from tests.support.cmake import NINJA_AND_MAKE, Project, need_cmake
from tests.support.processes import run

MODELS = [DATA / "digits.tflite", DATA / "odd_even.tflite"]


def logging_interpreter(folder: Path) -> tuple[str, Path]:
    """Return the option for an interpreter that writes down how it is called, and where it does."""
    log, script = folder / "log", folder / "python"
    script.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec "{sys.executable}" "$@"\n')
    script.chmod(0o755)
    return f"-DUSMP_BUILD_PYTHON={script}", log


@NINJA_AND_MAKE
def test_twenty_models_in_ten_folders(tmp_path: Path, find: str, generator: str) -> None:
    need_cmake(generator)
    python, log = logging_interpreter(tmp_path)
    case = Project(write_with_us(tmp_path / "source", MODELS), tmp_path / "build", generator)
    case.configure(find, python)
    done = case.build()
    models = [name for group in names() for name in group]
    assert len(models) == FOLDERS * MODELS_EACH == 20
    assert {"plan", "link app", *(f"compile {name}.c" for name in models)} <= set(done)
    assert done.count("plan") == 1
    assert run([case.app]).code == 0

    calls = log.read_text()
    before = case.products()
    assert case.build() == []
    assert log.read_text() == calls
    assert case.products() == before


def test_the_project_that_the_benchmark_compares_with_builds(tmp_path: Path, find: str) -> None:
    need_cmake("Ninja")
    python, _ = logging_interpreter(tmp_path)
    ours = Project(write_with_us(tmp_path / "with", MODELS), tmp_path / "with us", "Ninja")
    ours.configure(find, python)
    ours.build("--target", "plan_gen")
    theirs = Project(write_without_us(tmp_path / "without", ours.generated), tmp_path / "without us", "Ninja")
    theirs.configure()
    assert len([step for step in theirs.build() if step.startswith("link")]) == 22
    assert run([theirs.app]).code == 0
