"""examples/program: CMake plans and builds a program, named by the manifest or by the call."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import ROOT
from tests.support.cmake import PYTHON, Project, need, touch, write_project
from tests.support.examples import printed

EXAMPLE = ROOT / "examples" / "program"
CLEAN = "-DCMAKE_C_FLAGS=-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
SAID = "20 of 20 pictures get the votes that they get without shared memory\n"
LISTS = """
cmake_minimum_required(VERSION 3.22)
project(test C)
find_package(usmp_build CONFIG REQUIRED)
usmp_add_plan(plan MANIFEST usmp.toml)
add_usmp_model(vision PLAN plan MODEL vision.program.json)
add_executable(app ROOT/examples/program/main.c ROOT/examples/program/functions.c)
target_link_libraries(app PRIVATE vision)
"""


def test_the_example_computes_what_arrays_of_its_own_would(tmp_path: Path, find: str) -> None:
    need("Unix Makefiles")
    project = Project(EXAMPLE, tmp_path / "build")
    project.configure(find, PYTHON, CLEAN)
    assert "link camera" in project.build()
    done = subprocess.run([project.binary / "camera"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, SAID)
    assert [done.stdout] == printed("program")


def test_a_program_may_be_named_by_the_call(tmp_path: Path, find: str) -> None:
    need("Unix Makefiles")
    text = (EXAMPLE / "vision.program.json").read_text()
    files = {"CMakeLists.txt": LISTS, "vision.program.json": text}
    files["usmp.toml"] = '[project]\nname = "p"\n[models.vision]\npath = "elsewhere"\nio = "application"\n'
    project = Project(write_project(tmp_path / "source", files), tmp_path / "build")
    project.configure(find, PYTHON, CLEAN)
    assert "link app" in project.build()
    assert subprocess.run([project.binary / "app"], capture_output=True, text=True, check=True).stdout == SAID
    model = project.source / "vision.program.json"
    model.write_text(text.replace('"int32", "extents": [4]', '"int32", "extents": [8]'))
    touch(model)
    steps = project.build()
    assert "plan" in steps
    assert "compile vision.c" in steps
