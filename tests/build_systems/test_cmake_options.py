"""Kernels are compiled as the programs that link them, although only these have the options."""

import json
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.cmake import PYTHON, Project, need_cmake
from tests.support.files import copy_project, edit, write_files
from tests.support.tools import need

START = "cmake_minimum_required(VERSION 3.22)\nproject(test C)\n"
FIND = "find_package(usmp_build CONFIG)\n"
PLANNED = "usmp_add_manifest(plan MANIFEST usmp.toml)\n"
CHECKED_IN = "add_subdirectory(generated)\n"
APP = "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE usmp::digits)\n"
OTHER = "add_executable(boot main.c)\ntarget_link_libraries(boot PRIVATE usmp::digits)\n"
MACHINE = "target_compile_options(app PRIVATE -mcpu=cortex-m4 -mthumb -Wall -O1)\n"
FILES = {
    "usmp.toml": '[project]\nname = "p"\n[models.digits]\npath = "DATA/digits.tflite"\n',
    "main.c": '#include "digits.h"\nint main(void) { return digits_run() != USMP_OK; }\n',
}
QUICK = (
    *("-DCMAKE_C_COMPILER_FORCED=ON", "-DCMAKE_C_COMPILER_ID_RUN=ON", "-DCMAKE_C_COMPILER_ID=GNU"),
    "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
)
"""Nothing is compiled: CMake need not get to know the compiler."""
KERNELS, MODEL, POOLS = "p_kernels.c", "digits.c", "p_pools.c"


def configured(tmp_path: Path, find: str, lists: str, *options: str, generator: str = "Ninja") -> tuple[Project, str]:
    """A project, and the output of CMake."""
    need_cmake(generator=generator)
    source = write_files(tmp_path / "source", FILES | {"CMakeLists.txt": START + lists})
    if CHECKED_IN in lists:
        assert call("generate", source / "usmp.toml", "--out", source / "generated").code == 0
    project = Project(source, tmp_path / "build", generator)
    return project, project.configure(find, PYTHON, *QUICK, *options)


def commands(project: Project) -> dict[str, list[str]]:
    """Return the options that say what processor there is and how far to optimise, by source file."""
    record = json.loads((project.binary / "compile_commands.json").read_text("utf-8"))
    wanted = ("-m", "-O", "-f", "--specs")
    return {
        Path(each["file"]).name: [word for word in each["command"].split() if word.startswith(wanted)]
        for each in record
    }


@pytest.mark.parametrize("plan", [FIND + PLANNED, CHECKED_IN], ids=["planned", "checked in"])
@pytest.mark.parametrize(
    "options",
    [
        MACHINE,
        'set_target_properties(app PROPERTIES COMPILE_FLAGS "-mcpu=cortex-m4 -mthumb -Wall -O1")\n',
        "target_compile_options(app PRIVATE $<$<COMPILE_LANGUAGE:C>:-mcpu=cortex-m4> -mthumb $<1:-O1>)\n",
        'target_compile_options(app PRIVATE "SHELL:-mcpu=cortex-m4 -mthumb -O1")\n',
        "add_library(cpu INTERFACE)\ntarget_compile_options(cpu INTERFACE -mcpu=cortex-m4 -mthumb -O1)\n"
        "target_link_libraries(app PRIVATE cpu)\n",
    ],
    ids=["options", "flags", "conditions", "shell", "interface"],
)
def test_options_of_the_program_are_those_of_kernels(tmp_path: Path, find: str, plan: str, options: str) -> None:
    project, message = configured(tmp_path, find, plan + APP + options)
    wanted = ["-mcpu=cortex-m4", "-mthumb", "-O1"]
    assert commands(project) == dict.fromkeys([KERNELS, MODEL, POOLS, "main.c"], wanted)
    assert "different options" not in message


def test_instructions_are_those_of_the_program(tmp_path: Path, find: str) -> None:
    project, _ = configured(tmp_path, find, FIND + PLANNED + APP + MACHINE.replace("m4", "m55"))
    assert "--isa=-mcpu=cortex-m55" in (project.binary / "build.ninja").read_text("utf-8")


@pytest.mark.parametrize(
    ("lists", "kernels"),
    [
        (APP, ["-O2"]),
        (APP + "target_compile_options(plan PRIVATE -O0)\n", ["-O0"]),
        (APP + OTHER + "target_compile_options(boot PRIVATE -O3)\n", ["-O2"]),
        (APP + "target_compile_options(app PRIVATE -Og)\n", ["-Og"]),
        (APP + MACHINE + "target_compile_options(plan PRIVATE -mcpu=cortex-m7 -O3)\n",
         ["-mcpu=cortex-m4", "-mthumb", "-mcpu=cortex-m7", "-O3"]),
        ("add_library(logic main.c)\ntarget_link_libraries(logic PUBLIC usmp::digits)\nadd_executable(app main.c)\n"
         "target_link_libraries(app logic)\ntarget_compile_options(logic PRIVATE -mthumb)\n", ["-mthumb", "-O2"]),
        ("add_library(models INTERFACE)\ntarget_link_libraries(models INTERFACE usmp::digits)\n"
         "add_executable(app main.c)\ntarget_link_libraries(app models)\n" + MACHINE,
         ["-mcpu=cortex-m4", "-mthumb", "-O1"]),
    ],
    ids=["nothing said", "said of the plan", "programs disagree", "the program's", "the plan's come last", "a library",
         "through an interface"],
)  # fmt: skip
def test_without_a_build_type(tmp_path: Path, find: str, lists: str, kernels: list[str]) -> None:
    project, output = configured(tmp_path, find, FIND + PLANNED + lists)
    assert commands(project)[KERNELS] == kernels
    assert "Warning" not in output


@pytest.mark.parametrize(
    ("option", "kernels"),
    [
        ("-DCMAKE_BUILD_TYPE=Release", ["-O3", "-mcpu=cortex-m4", "-mthumb"]),
        ("-DCMAKE_BUILD_TYPE=Debug", ["-mcpu=cortex-m4", "-mthumb", "-O1"]),
        ("-DCMAKE_C_FLAGS=-Os", ["-Os", "-mcpu=cortex-m4", "-mthumb"]),
    ],
)
def test_flags_that_say_how_far_to_optimise_are_enough(
    tmp_path: Path, find: str, option: str, kernels: list[str]
) -> None:
    flags = ("-DCMAKE_C_FLAGS_RELEASE=-O3", "-DCMAKE_C_FLAGS_DEBUG=-g")
    project, _ = configured(tmp_path, find, FIND + PLANNED + APP + MACHINE, option, *flags)
    assert commands(project)[KERNELS] == kernels


def test_each_configuration_is_looked_at(tmp_path: Path, find: str) -> None:
    flags = ("-DCMAKE_CONFIGURATION_TYPES=Debug;Release", "-DCMAKE_C_FLAGS_RELEASE=-O3", "-DCMAKE_C_FLAGS_DEBUG=-g")
    project, _ = configured(tmp_path, find, FIND + PLANNED + APP + MACHINE, *flags, generator="Ninja Multi-Config")
    record = json.loads((project.binary / "compile_commands.json").read_text("utf-8"))
    kernels = [each["command"] for each in record if each["file"].endswith(KERNELS)]
    assert sorted(("-O1" in command, "-O3" in command) for command in kernels) == [(False, True), (True, False)]


def test_programs_for_different_processors_are_told(tmp_path: Path, find: str) -> None:
    lists = FIND + PLANNED + APP + OTHER + MACHINE + "target_compile_options(boot PRIVATE -mcpu=cortex-m0 -mthumb)\n"
    project, message = configured(tmp_path, find, lists)
    assert commands(project)[KERNELS] == ["-O2"]
    text = " ".join(message.split())
    assert '"app" with "-mcpu=cortex-m4 -mthumb", "boot" with "-mcpu=cortex-m0 -mthumb"' in text
    assert "say target_compile_options(plan PRIVATE ...)" in text


def test_a_program_that_links_the_plan_through_its_own_library(tmp_path: Path, find: str) -> None:
    """Its library has no options; the program that usmp_link_pools() names has."""
    lists = "add_executable(app main.c)\ntarget_link_libraries(app usmp::plan)\n" + MACHINE
    project, _ = configured(tmp_path, find, FIND + PLANNED + lists + "usmp_link_pools(app plan NO_CHECK)\n")
    assert commands(project)[MODEL] == ["-mcpu=cortex-m4", "-mthumb", "-O1"]


def test_a_firmware_whose_processor_only_the_program_knows_is_linked(tmp_path: Path, find: str) -> None:
    """Its toolchain file does not name it: kernels for another one would call __sync_synchronize, which is nowhere."""
    need_cmake()
    need("arm-none-eabi-gcc")
    source = copy_project("bare_metal", tmp_path / "source", {"digits.tflite": "digits"})
    edit(source / "arm-none-eabi.cmake", "-mcpu=cortex-m33 -mthumb ", "")
    edit(source / "arm-none-eabi.cmake", "set(CMAKE_SYSTEM_PROCESSOR cortex-m33)", "")
    link = "target_link_options(firmware PRIVATE -nostdlib"
    edit(source / "CMakeLists.txt", link, f"target_compile_options(firmware PRIVATE -mcpu=cortex-m33 -mthumb)\n{link}")
    project = Project(source, tmp_path / "build")
    project.configure(find, PYTHON, f"-DCMAKE_TOOLCHAIN_FILE={source}/arm-none-eabi.cmake")
    code, text = project.try_to_build()
    assert code == 0, text
    assert "every pool is as planned" in text
    assert '"isa": "dsp"' in (project.generated / "plan.json").read_text("utf-8")
