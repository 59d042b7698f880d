"""CMake: a plan is for the processor that it is compiled for, unless the manifest says another one."""

import json
import re
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.cmake import NINJA_AND_MAKE, PYTHON, Project, need_cmake
from tests.support.files import write_files
from tests.support.tree import ROOT

QUICK = ("-DCMAKE_C_COMPILER_FORCED=ON", "-DCMAKE_C_COMPILER_ID_RUN=ON")
"""Nothing is compiled: CMake need not get to know the compiler."""
MANIFEST = (
    f'[project]\nname = "p"\n[models.digits]\npath = "{(ROOT / "tests" / "data" / "digits.tflite").as_posix()}"\n'
)
START = "cmake_minimum_required(VERSION 3.22)\nproject(test C)\nfind_package(usmp_build CONFIG REQUIRED)\n"
ADD = "usmp_add_manifest(plan MANIFEST usmp.toml)\n"
BOARD = "add_library(board INTERFACE)\ntarget_compile_options(board INTERFACE -mcpu=cortex-m7)\n"
CROSS = ("-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_SYSTEM_PROCESSOR=cortex-m33")


def project(tmp_path: Path, lists: str, generator: str = "Unix Makefiles") -> Project:
    need_cmake(generator)
    files = {"CMakeLists.txt": START + lists, "usmp.toml": MANIFEST}
    return Project(write_files(tmp_path / "source", files), tmp_path / "b", generator)


@pytest.mark.parametrize(
    ("lists", "options", "passed"),
    [
        (ADD, (), "portable"),
        (ADD, ("-DCMAKE_C_FLAGS=-O2 -mcpu=cortex-m4 -mthumb",), "-mcpu=cortex-m4"),
        (ADD, ("-DCMAKE_C_FLAGS=-mcpu=cortex-m4 -mcpu=cortex-m55+nomve",), "-mcpu=cortex-m55+nomve"),
        (ADD, ("-DCMAKE_C_FLAGS=-mtune=cortex-m4",), "portable"),
        (ADD, ("-DCMAKE_C_FLAGS_INIT=-march=armv7e-m",), "-march=armv7e-m"),
        (ADD, ("-DCMAKE_C_FLAGS=--cpu Cortex-M55",), "--cpu Cortex-M55"),
        ("add_compile_options(-Wall -mcpu=cortex-m55)\n" + ADD, (), "-mcpu=cortex-m55"),
        ("add_compile_options(--cpu Cortex-M4)\n" + ADD, (), "--cpu Cortex-M4"),
        ("add_compile_options($<$<COMPILE_LANGUAGE:C>:-mcpu=cortex-m85>)\n" + ADD, (), "-mcpu=cortex-m85"),
        (ADD + "target_compile_options(plan PRIVATE -mcpu=cortex-m33)\n", (), "-mcpu=cortex-m33"),
        (ADD + "set(CMAKE_C_FLAGS -mcpu=cortex-m33)\n", (), "-mcpu=cortex-m33"),
        (ADD + BOARD + "target_link_libraries(plan PUBLIC board)\n", (), "-mcpu=cortex-m7"),
        (
            ADD + BOARD + "add_library(outer INTERFACE)\ntarget_link_libraries(outer INTERFACE board outer)\n"
            "target_link_libraries(plan PRIVATE $<BUILD_INTERFACE:outer>)\n",
            (),
            "-mcpu=cortex-m7",
        ),
        (ADD + BOARD, (), "portable"),
        (ADD, CROSS, "-mcpu=cortex-m33"),
        (ADD, (*CROSS, "-DCMAKE_C_FLAGS=-mcpu=cortex-m3"), "-mcpu=cortex-m3"),
    ],
)
def test_the_last_option_for_a_processor_is_passed(
    tmp_path: Path, find: str, lists: str, options: tuple[str, ...], passed: str
) -> None:
    case = project(tmp_path, lists)
    case.configure(find, PYTHON, *QUICK, *options)
    rules = (case.binary / "CMakeFiles" / "plan_gen.dir" / "build.make").read_text("utf-8")
    matches = re.findall(r'--isa=((?:[^" \\]|\\ )+)|"--isa=([^"]+)"', rules)
    assert [plain.replace("\\ ", " ") or quoted for plain, quoted in matches] == [passed]


@NINJA_AND_MAKE
def test_another_processor_is_another_plan(tmp_path: Path, find: str, generator: str) -> None:
    case = project(tmp_path, ADD, generator)

    def planned(*options: str) -> str:
        case.configure(find, PYTHON, *QUICK, *options)
        assert case.build("--target", "plan_gen") == ["plan"]
        assert case.build("--target", "plan_gen") == []
        isa: str = json.loads((case.generated / "plan.json").read_text("utf-8"))["targets"][0]["isa"]
        return isa

    assert planned() == "portable"
    assert planned("-DCMAKE_C_FLAGS=-mcpu=cortex-m4") == "dsp"
    assert planned("-DCMAKE_C_FLAGS=-mcpu=cortex-m55") == "mve"
    assert planned("-DCMAKE_C_FLAGS=-march=rv32imac") == "scalar"
    (case.source / "usmp.toml").write_text(f'{MANIFEST}[targets.cpu]\nisa = "dsp"\n', "utf-8")
    assert planned("-DCMAKE_C_FLAGS=-mcpu=cortex-m0") == "dsp"


@NINJA_AND_MAKE
def test_the_command_line_plans_as_the_build_does(tmp_path: Path, find: str, generator: str) -> None:
    pools = "".join(f'[pools.{name}]\naccess = "rw"\n' for name in ("tcm", "sram"))
    model = (ROOT / "tests" / "data" / "odd_even.tflite").as_posix()
    add = (
        f"usmp_add_plan(plan MANIFEST usmp.toml)\nadd_usmp_model(other PLAN plan MODEL {model} WORKSPACE_POOLS sram)\n"
    )
    case = project(tmp_path, add, generator)
    (case.source / "usmp.toml").write_text(MANIFEST + pools)
    case.configure(find, PYTHON, *QUICK, "-DCMAKE_C_FLAGS=-mcpu=cortex-m55")
    case.build("--target", "plan_gen")
    done = call("plan", case.generated, "--json")
    plan = json.loads(done.out)
    assert done.err == f'note: planned for isa mve, as "{case.generated}" is\n'
    assert [target["isa"] for target in plan["targets"]] == ["mve"]
    assert [(each["name"], each["overrides"]) for each in plan["models"]] == [
        ("other", {"path": True, "workspace_pools": ["sram"]})
    ]
    assert plan["buffers"] == json.loads((case.generated / "plan.json").read_text("utf-8"))["buffers"]
    same = call("generate", case.generated, "--out", case.generated, "--diff")
    assert (same.code, same.out) == (0, f"{case.generated} is up to date\n")


def test_a_folder_in_the_source_tree_gets_no_paths_of_this_machine(tmp_path: Path, find: str) -> None:
    case = project(tmp_path, "usmp_add_manifest(plan MANIFEST usmp.toml OUTPUT_DIR ../source/generated)\n")
    case.configure(find, PYTHON, *QUICK)
    assert not [*case.source.glob("*.args")]
