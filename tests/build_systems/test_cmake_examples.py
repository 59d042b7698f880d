"""CMake: examples, and what their READMEs do not try: two threads, damaged weights, a program that MODEL names."""

import shutil
from pathlib import Path

from tests.support.cli import succeed
from tests.support.cmake import PYTHON, Project, need_cmake
from tests.support.files import touch, write_files
from tests.support.host_c import STRICT
from tests.support.processes import Done, output, run
from tests.support.tree import ROOT

INSTANCES, PROGRAM, WEIGHTS = (ROOT / "examples" / name for name in ("instances", "program", "weights"))


def test_two_instances_run_at_once(tmp_path: Path, find: str) -> None:
    need_cmake()
    project = Project(INSTANCES, tmp_path / "build")
    project.configure(find, PYTHON, f"-DCMAKE_C_FLAGS={STRICT} -fsanitize=thread")
    project.build()
    lines = [f"clerk {i}: 1600 of 1600 outputs equal those of TensorFlow Lite Micro\n" for i in range(2)]
    assert run([project.binary / "desk"]) == Done(0, "".join(lines), "")


def test_weights_are_refused_and_exchanged(tmp_path: Path, find: str) -> None:
    """Other weights that are built in compile nothing but the application."""
    need_cmake()
    source = tmp_path / "source"
    shutil.copytree(WEIGHTS, source)
    project = Project(source, tmp_path / "build")
    project.configure(find, PYTHON, f"-DCMAKE_C_FLAGS={STRICT}")
    project.build()
    program = project.binary / "meter"
    assert printed(program) == "levels 100 and -60\n"
    cut = tmp_path / "cut.bin"
    cut.write_bytes(other(tmp_path, "retrained").read_bytes()[:-1])
    assert printed(program, cut) == "the update is damaged, or for another program: levels 100 and -60\n"

    (source / "gauge.model.txt").write_bytes((WEIGHTS / "retrained.model.txt").read_bytes())
    assert project.build() == ["compile main.c", "link meter", "plan"]
    assert printed(program) == "levels 28 and -39\n"


def other(folder: Path, model: str) -> Path:
    """Generate the weights of another model of the same name."""
    where = folder / model
    name = f"gauge={WEIGHTS / model}.model.txt"
    succeed("generate", WEIGHTS / "usmp.toml", "--model", name, "--out", where)
    return where / "meter_weights.bin"


def printed(program: Path, *arguments: Path) -> str:
    return output([program, *arguments])


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


def test_a_program_may_be_an_override(tmp_path: Path, find: str) -> None:
    need_cmake()
    text = (PROGRAM / "vision.program.json").read_text()
    files = {"CMakeLists.txt": LISTS, "vision.program.json": text}
    files["usmp.toml"] = '[project]\nname = "p"\n[models.vision]\npath = "elsewhere"\nio = "application"\n'
    project = Project(write_files(tmp_path / "source", files), tmp_path / "build")
    project.configure(find, PYTHON, f"-DCMAKE_C_FLAGS={STRICT}")
    assert "link app" in project.build()
    assert output([project.binary / "app"]) == SAID
    model = project.source / "vision.program.json"
    model.write_text(text.replace('"int32", "extents": [4]', '"int32", "extents": [8]'))
    touch(model)
    steps = project.build()
    assert "plan" in steps
    assert "compile vision.c" in steps
