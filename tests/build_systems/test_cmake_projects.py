"""CMake: projects of many folders, C++, shared libraries, install, unity builds, IDEs, code generation."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cmake import CMAKES, COVERING, NINJA_AND_MAKE, PYTHON, Project, need_cmake, version
from tests.support.files import PROJECTS, copy_project
from tests.support.processes import output, run

MODELS = {f"{name}.tflite": name for name in ("digits", "odd_even", "branchy")}


def project(tmp_path: Path, generator: str, cmake: str = "cmake") -> Project:
    need_cmake(generator, cmake)
    return Project(copy_project("libraries", tmp_path / "source", MODELS), tmp_path / "build", generator, cmake)


@COVERING
def test_folders_languages_and_libraries(tmp_path: Path, find: str, generator: str, cmake: str) -> None:
    case = project(tmp_path, generator, cmake)
    case.configure(find, PYTHON)
    assert case.build().count("plan") == 1
    assert run([case.app]).code == 0
    assert case.build() == []


@NINJA_AND_MAKE
def test_a_plan_of_a_folder_below_may_place_its_files(tmp_path: Path, find: str, generator: str) -> None:
    need_cmake(generator)
    models = {"ml/digits.tflite": "digits", "ml/deep/odd_even.tflite": "odd_even"}
    case = Project(copy_project("folder_below", tmp_path / "source", models), tmp_path / "build", generator)
    case.configure(find, PYTHON)
    case.build()
    assert run([case.app]).code == 0
    assert case.build() == []
    (case.binary / "ml" / "out put" / "Digits_2.h").unlink()
    assert case.build().count("plan") == 1
    assert case.build() == []


@pytest.mark.parametrize(
    "option",
    ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
)
def test_ways_to_compile(tmp_path: Path, find: str, option: str) -> None:
    case = project(tmp_path, "Ninja")
    case.configure(find, PYTHON, option)
    case.build()
    assert run([case.app]).code == 0
    assert case.build() == []
    if "COMPILE_COMMANDS" in option:
        commands = json.loads((case.binary / "compile_commands.json").read_text())
        assert str(case.generated / "digits.c") in {command["file"] for command in commands}


def test_installed_libraries_are_used_where_nothing_of_ours_is(tmp_path: Path, find: str) -> None:
    case = project(tmp_path, "Ninja")
    case.configure(find, PYTHON)
    case.build()
    installed = tmp_path / "installed"
    output([case.cmake, "--install", case.binary, "--prefix", installed])
    (case.source).rename(tmp_path / "away")
    (case.binary).rename(tmp_path / "far away")
    user = Project(PROJECTS / "installed", tmp_path / "user build", "Ninja")
    user.configure(f"-Dinstalled={installed}")
    user.build()
    assert run([user.app]).code == 0


def sources(case: Project, *options: str) -> dict[str, set[tuple[str, str, bool]]]:
    """What CMake tells an IDE: target → of each of its files the name, the group, and whether it is generated."""
    query = case.binary / ".cmake" / "api" / "v1" / "query" / "codemodel-v2"
    query.parent.mkdir(parents=True)
    query.touch()
    case.configure(*options)
    targets = {}
    for reply in query.parents[1].glob("reply/target-*.json"):
        target: dict[str, Any] = json.loads(reply.read_text())
        groups = [group["name"] for group in target.get("sourceGroups", ())]
        targets[target["name"]] = {
            (Path(file["path"]).name, groups[file["sourceGroupIndex"]], file.get("isGenerated", False))
            for file in target["sources"]
        }
    return targets


def test_an_ide_shows_manifest_models_and_generated_files(tmp_path: Path, find: str) -> None:
    names = sources(project(tmp_path, "Ninja"), find, PYTHON)
    assert {("usmp.toml", "Models", False), ("doorbell.ld", "Generated", True)} < names["plan"]
    assert {("doorbell_pools.c", "Generated", True), ("plan.json", "Generated", True)} < names["plan"]
    assert names["odd_even"] == {
        ("odd_even.tflite", "Models", False),
        *((name, "Generated", True) for name in ("odd_even.c", "odd_even.h", "odd_even_constants.h")),
    }
    assert names["digits"] == {(name, "Generated", True) for name in ("digits.c", "digits.h", "digits_constants.h")}


@NINJA_AND_MAKE
def test_the_target_codegen_generates_and_compiles_nothing(tmp_path: Path, find: str, generator: str) -> None:
    newest = max(CMAKES, key=release)
    need_cmake(generator, newest)
    if release(newest) < [3, 31]:
        pytest.skip("no CMake 3.31 or newer, which has this target: set USMP_CMAKES")
    case = project(tmp_path, generator, newest)
    case.configure(find, PYTHON)
    assert case.build("--target", "codegen") == ["plan"]
    assert (case.generated / "digits.c").is_file()
    assert case.build("--target", "codegen") == []


def release(cmake: str) -> list[int]:
    """The version of a CMake; empty where it is not there."""
    return [int(number) for number in version(cmake).split(".") if number.isdigit()]
