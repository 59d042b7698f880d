"""The core is a library: where it is missing, or another one, errors say what to do; what plans nothing works."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.support.cli import DATA
from tests.support.environments import Environment, lent
from tests.support.planned import Shared
from tests.support.processes import output, run
from tests.support.tree import ROOT
from usmp_build import __version__

DIGITS = DATA / "digits.tflite"
VERSION_09 = 'const char *usmp_version(void) { return "0.0.9"; }'
BROKEN = {
    "not a library": b"rubbish",
    "of another processor": b"\x7fELF\x02\x02\x01" + bytes(9) + b"\x00\x03\x00\x15\x00\x00\x00\x01" + bytes(4096),
    "empty": b"",
}


@pytest.fixture
def source_tree(shared: Shared) -> Environment:
    """An environment that has all but our package, and runs the source tree, in which nothing is compiled."""

    def make(folder: Path) -> Path:
        lent(folder)
        return folder

    return Environment(shared("source_tree", make))


def test_the_source_tree_alone_says_how_to_get_the_core(source_tree: Environment) -> None:
    done = source_tree.run("python", "-m", "usmp_build", "plan", DIGITS, env={"PYTHONPATH": str(ROOT)})
    assert done.code == 1
    message = "error[U244]: the compiled core of the planner is missing"
    (error, help_) = done.err.splitlines()[-2:]
    assert (error, help_.startswith("help: run: ")) == (message, True)
    assert help_.endswith(f'-m pip install "{ROOT}"')


def test_what_plans_nothing_needs_no_core(source_tree: Environment) -> None:
    for arguments in (["--version"], ["plan", "--help"], ["inspect", "model", DIGITS], ["schema"], ["plugins"]):
        source_tree.passes("python", "-m", "usmp_build", *arguments, env={"PYTHONPATH": str(ROOT)})
    doctor = source_tree.passes("python", "-m", "usmp_build", "doctor", env={"PYTHONPATH": str(ROOT)})
    assert "compiled core: is missing; run: " in doctor


def test_a_core_built_by_hand_is_loaded_from_beside_the_source_tree(source_tree: Environment, tmp_path: Path) -> None:
    """As docs/install.md says for those who install nothing."""
    output(["cmake", "-S", ROOT / "core", "-B", tmp_path])
    output(["cmake", "--build", tmp_path])
    source_tree.passes("python", "-m", "usmp_build", "plan", DIGITS, env={"PYTHONPATH": f"{ROOT}:{tmp_path}"})


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_core_that_cannot_be_loaded_is_refused(content: bytes, from_wheel: Environment, tmp_path: Path) -> None:
    (tmp_path / "_usmp_build_core.so").write_bytes(content)
    assert " cannot be loaded (" in refused(from_wheel, tmp_path)


@pytest.mark.parametrize(
    ("source", "why"), [("int nothing;", " cannot be loaded ("), (VERSION_09, " is of version 0.0.9, and this is ")]
)
def test_another_library_is_refused(source: str, why: str, from_wheel: Environment, tmp_path: Path) -> None:
    library(tmp_path, source)
    assert why in refused(from_wheel, tmp_path)


@pytest.mark.parametrize(("sources", "is_refused"), [("0123", True), ("", False)], ids=["others", "unknown"])
def test_beside_its_sources_a_core_is_theirs(
    sources: str, is_refused: bool, source_tree: Environment, from_wheel: Environment, tmp_path: Path
) -> None:
    """One that names none is Bazel's, which is never older; where no sources are, its version is enough."""
    text = f'const char *usmp_version(void) {{ return "{__version__}"; }}\n'
    made = library(tmp_path, text + f'const char *usmp_sources(void) {{ return "{sources}"; }}\n')
    check = ["python", "-c", "from usmp_build.planner.algorithms import core; core.check()"]
    done = source_tree.run(*check, env={"PYTHONPATH": str(ROOT), "_USMP_BUILD_CORE": str(made)})
    error = f'error[U244]: the compiled core of the planner was compiled from other sources than those in "{ROOT}/core"'
    assert (done.code, error in done.err) == (int(is_refused), is_refused)
    from_wheel.passes(*check, env={"_USMP_BUILD_CORE": str(made)})


def test_line_ends_make_no_other_core(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    for path in (ROOT / "core").iterdir():
        (tmp_path / "core" / path.name).write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (same, other) = (
        hash_of(folder, tmp_path / name) for name, folder in (("a", ROOT / "core"), ("b", tmp_path / "core"))
    )
    assert same == other
    (tmp_path / "core" / "cut.h").write_text("")
    assert hash_of(tmp_path / "core", tmp_path / "b") != same


def hash_of(folder: Path, build: Path) -> str:
    """The hash that a core of these sources has, as CMake hands it to the compiler."""
    output(["cmake", "-S", folder, "-B", build, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"])
    commands = " ".join(each["command"] for each in json.loads((build / "compile_commands.json").read_text()))
    (found,) = re.findall(r"USMP_SOURCES=\W*([0-9a-f]{64})\b", commands)
    return str(found)


def library(folder: Path, source: str) -> Path:
    """Compile a library that is called like the core."""
    (folder / "other.c").write_text(source)
    made = folder / "_usmp_build_core.so"
    output(["cc", "-shared", folder / "other.c", "-o", made])
    return made


def refused(environment: Environment, before: Path) -> str:
    """The error of a plan, where a core in this folder comes before the installed one."""
    done = environment.run("usmp-build", "plan", DIGITS, env={"PYTHONPATH": str(before)})
    assert (done.code, "error[U244]: the compiled core of the planner " in done.err) == (1, True)
    return done.err


def test_cmake_compiles_the_core_of_a_source_tree_and_again_when_that_changes(
    source_tree: Environment, tmp_path: Path
) -> None:
    """For this machine, whatever the environment says about compilers and folders of the project."""
    tree, build = tmp_path / "tree", ["cmake", "--build", tmp_path / "build"]
    for name in ("cmake", "core", "usmp_build"):
        shutil.copytree(ROOT / name, tree / name)
    shutil.copy(ROOT / "CMakeLists.txt", tree)
    (tmp_path / "CMakeLists.txt").write_text(
        f"""\
cmake_minimum_required(VERSION 3.22)
project(digits C)
add_subdirectory(tree)
usmp_add_plan(plan MANIFEST "{ROOT}/examples/digits/usmp.toml")
usmp_add_model(digits PLAN plan)
usmp_add_model(odd_even PLAN plan)
"""
    )
    (tmp_path / "toolchain.cmake").write_text("set(CMAKE_CXX_COMPILER no-compiler-of-this-machine)\n")
    env = {
        **os.environ,
        "CXX": "no-compiler-of-this-machine",
        "CXXFLAGS": "--no-such-flag",
        "CMAKE_TOOLCHAIN_FILE": str(tmp_path / "toolchain.cmake"),
        "DESTDIR": str(tmp_path / "elsewhere"),
    }
    configure = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DUSMP_BUILD_PYTHON={source_tree.python}"]
    compiling = "usmp_build: compiling the core of its planner"
    assert compiling in output(configure, env=env)
    assert compiling not in output(build, env=env)
    (depfile,) = (tmp_path / "build").rglob("*.stamp.d")
    (core,) = (tmp_path / "build").rglob("usmp_build_core/_usmp_build_core.*")
    assert str(core) in depfile.read_text()

    planning, api = "Planning the memory of digits, odd_even", tree / "core" / "api.cpp"
    assert planning not in output(build, env=env)
    text = api.read_text()
    api.write_text(f"{text}// updated\n")
    done = output(build, env=env)
    assert (compiling in done, planning in done) == (True, True)

    api.write_text(f"{text}#error no longer C++\n")
    for _ in range(2):
        failed = run(build, env=env, merged=True)
        assert (failed.code != 0, "the core of its planner cannot be compiled" in failed.out) == (True, True)
        assert re.search(r"api\.cpp:\d+.*error.*no longer C\+\+", failed.out)
