"""CMake: a plan links the target cmsis-nn, wherever that is added; without it, CMake says what is missing."""

import re
from pathlib import Path

import pytest

from tests.support.checked_in import generate
from tests.support.cmake import PYTHON, Project, need_cmake
from tests.support.cmsis_nn import stand_in
from tests.support.files import write_files
from tests.support.processes import output
from tests.support.tree import ROOT
from usmp_build.request import Isa

START = "cmake_minimum_required(VERSION 3.22)\nproject(test C)\n"
FOUND = "find_package(usmp_build CONFIG REQUIRED)\nusmp_add_manifest(plan MANIFEST usmp.toml)\n"
CHECKED_IN = "add_subdirectory(generated)\n"
APP = "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE usmp::digits)\nadd_subdirectory(arm)\n"
MANIFEST = f"""[project]
name = "p"
[targets.cpu]
kernels = "cmsis-nn"
[models.digits]
path = "{(ROOT / "tests" / "data" / "digits.tflite").as_posix()}"
"""
MAIN = '#include "digits.h"\nint main(void) { return digits_run() != USMP_OK; }\n'


def project(tmp_path: Path, lists: str) -> Project:
    """A project with a folder that adds the stand-in as CMSIS-NN adds itself."""
    need_cmake()
    source = write_files(tmp_path / "source", {"CMakeLists.txt": START + lists, "usmp.toml": MANIFEST, "main.c": MAIN})
    (source / "arm").mkdir()
    flags, (file,) = stand_in(source / "arm", Isa.PORTABLE)
    folders = " ".join(f"[[{flag.removeprefix('-I')}]]" for flag in flags if flag.startswith("-I"))
    add = f"add_library(cmsis-nn STATIC [[{file.as_posix()}]])\ntarget_include_directories(cmsis-nn PUBLIC {folders} [["
    (source / "arm" / "CMakeLists.txt").write_text(f"{add}{(ROOT / 'tests/support/kernels').as_posix()}]])\n", "utf-8")
    return Project(source, tmp_path / "b")


@pytest.mark.parametrize("lists", [FOUND, CHECKED_IN], ids=["planned", "checked in"])
def test_a_plan_links_it(tmp_path: Path, find: str, lists: str) -> None:
    case = project(tmp_path, lists + APP)
    if lists == CHECKED_IN:
        generate(case.source / "usmp.toml", case.source / "generated")
    case.configure(find, PYTHON)
    assert "link app" in case.build()
    assert output([case.app]) == ""


def test_a_target_that_is_missing_is_named(tmp_path: Path, find: str) -> None:
    code, text = project(tmp_path, FOUND).try_to_configure(find, PYTHON)
    assert code != 0
    message = 'its kernels call "cmsis-nn", which is no target; add that library, for example by add_subdirectory()'
    assert message in re.sub(r"\s+", " ", text)
