"""The core is a library: where it is missing, or another one, errors say what to do; what plans nothing works."""

import os
from pathlib import Path

import pytest

from tests.support.cli import DATA
from tests.support.environments import Environment, lent
from tests.support.planned import Shared
from tests.support.processes import output
from tests.support.tree import ROOT

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
    message = "error[U244]: the compiled core of the planner, _usmp_build_core, is missing"
    (error, help_) = done.err.splitlines()[-2:]
    assert (error, help_.startswith("help: run: ")) == (message, True)
    assert help_.endswith(f'-m pip install "{ROOT}"')


def test_what_plans_nothing_needs_no_core(source_tree: Environment) -> None:
    for arguments in (["--version"], ["plan", "--help"], ["inspect", "model", DIGITS], ["schema"], ["plugins"]):
        source_tree.passes("python", "-m", "usmp_build", *arguments, env={"PYTHONPATH": str(ROOT)})
    doctor = source_tree.passes("python", "-m", "usmp_build", "doctor", env={"PYTHONPATH": str(ROOT)})
    assert "compiled core: the compiled core of the planner, _usmp_build_core, is missing; run: " in doctor


def test_a_core_built_by_hand_is_loaded_from_beside_the_source_tree(source_tree: Environment, tmp_path: Path) -> None:
    """As docs/install.md says for those who install nothing."""
    output(["cmake", "-S", ROOT / "core", "-B", tmp_path])
    output(["cmake", "--build", tmp_path])
    source_tree.passes("python", "-m", "usmp_build", "plan", DIGITS, env={"PYTHONPATH": f"{ROOT}:{tmp_path}"})


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_core_that_cannot_be_loaded_is_told(content: bytes, from_wheel: Environment, tmp_path: Path) -> None:
    (tmp_path / "_usmp_build_core.so").write_bytes(content)
    assert ", cannot be loaded (" in refused(from_wheel, tmp_path)


@pytest.mark.parametrize(
    ("source", "why"), [("int nothing;", ", cannot be loaded ("), (VERSION_09, ", is of version 0.0.9, and this is ")]
)
def test_a_library_of_others_is_told(source: str, why: str, from_wheel: Environment, tmp_path: Path) -> None:
    (tmp_path / "other.c").write_text(source)
    output(["cc", "-shared", tmp_path / "other.c", "-o", tmp_path / "_usmp_build_core.so"])
    assert why in refused(from_wheel, tmp_path)


def refused(environment: Environment, before: Path) -> str:
    """The error of a plan, where a core in this folder comes before the installed one."""
    done = environment.run("usmp-build", "plan", DIGITS, env={"PYTHONPATH": str(before)})
    assert (done.code, "error[U244]: the compiled core of the planner, _usmp_build_core" in done.err) == (1, True)
    return done.err


def test_cmake_compiles_the_core_of_a_source_tree(source_tree: Environment, tmp_path: Path) -> None:
    """For this machine, whatever compiler the environment names for the project."""
    (tmp_path / "CMakeLists.txt").write_text(
        f"""\
cmake_minimum_required(VERSION 3.22)
project(digits C)
add_subdirectory("{ROOT}" usmp_build)
usmp_add_plan(plan MANIFEST "{ROOT}/examples/digits/usmp.toml")
usmp_add_model(digits PLAN plan)
usmp_add_model(odd_even PLAN plan)
"""
    )
    configure = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DUSMP_BUILD_PYTHON={source_tree.python}"]
    env = {**os.environ, "CXX": "no-compiler-of-this-machine"}
    assert "usmp_build: compiling the core of its planner" in output(configure, env=env)
    output(["cmake", "--build", tmp_path / "build"])
    assert [path.name for path in (tmp_path / "build").rglob("plan.json")] == ["plan.json"]
