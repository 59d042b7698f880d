"""CMake: programs that are linked: pools in their memory regions, images held against the plan, libraries."""

import re
from pathlib import Path

import pytest

from tests.support.checked_in import check
from tests.support.cli import call
from tests.support.cmake import EACH_GENERATOR, NINJA_AND_MAKE, PYTHON, Project, need_cmake
from tests.support.files import copy_project, edit, touch, write_files
from tests.support.processes import output, run
from tests.support.report_pages import table, tree
from tests.support.tools import need

TARGETS = {
    "host": ("cc", "nm", "size", ["-DCMAKE_EXE_LINKER_FLAGS=-static"]),
    "arm": (
        "arm-none-eabi-gcc",
        "arm-none-eabi-nm",
        "arm-none-eabi-size",
        ["-DCMAKE_TOOLCHAIN_FILE=arm-none-eabi.cmake"],
    ),
}


@pytest.fixture(params=TARGETS)
def firmware(request: pytest.FixtureRequest, tmp_path: Path, find: str) -> tuple[Project, str, str]:
    """A configured firmware, and the names of nm and size for it."""
    compiler, nm, size, options = TARGETS[request.param]
    need_cmake()
    need(compiler)
    source = copy_project("bare_metal", tmp_path / "source", {"digits.tflite": "digits"})
    project = Project(source, tmp_path / "build, it")
    options = [option.replace("=arm", f"={source}/arm") for option in options]
    project.configure(find, PYTHON, *options)
    return project, nm, size


def addresses(nm: str, program: Path) -> dict[str, int]:
    """The symbols of a program."""
    matches = re.findall(r"(?m)^([0-9a-f]+) \w (\S+)$", output([nm, program]))
    return {name: int(value, 16) for value, name in matches}


def test_pools_are_where_the_manifest_says(firmware: tuple[Project, str, str]) -> None:
    project, nm, size = firmware
    project.build()
    program = project.binary / "firmware"
    symbols = addresses(nm, program)
    header = (project.generated / "bare.h").read_text()
    planned = {name: int(value) for name, value in re.findall(r"#define BARE_(\w+)_SIZE (\d+)", header)}
    assert symbols["bare_tcm_pool"] == symbols["__usmp_tcm_start"] == 0x30000000
    assert symbols["__usmp_tcm_size"] == planned["TCM"]
    assert symbols["__usmp_flash_size"] == planned["FLASH"]
    assert 0x400000 <= symbols["__usmp_flash_start"] < 0x410000
    sections = output([size, "-A", program])
    assert re.search(rf"^\.usmp\.bare\.tcm\s+{planned['TCM']}\s", sections, re.MULTILINE)

    # Another fragment: link again.
    manifest = project.source / "usmp.toml"
    edit(manifest, 'region = "TCM"', 'region = "RAM"')
    touch(manifest)
    assert project.build() == ["link firmware", "plan"]
    assert project.build() == []


def test_a_pool_that_does_not_fit_its_region_is_a_link_error(firmware: tuple[Project, str, str]) -> None:
    project, _, _ = firmware
    script = project.source / "link.ld"
    edit(script, "LENGTH = 4K", "LENGTH = 512")
    code, text = project.try_to_build()
    assert code != 0
    assert re.search(r"region `TCM' overflowed by \d+ bytes", text)
    assert "section `.usmp.bare.tcm' will not fit in region `TCM'" in text


def test_pools_that_are_too_much_for_their_region_together(firmware: tuple[Project, str, str]) -> None:
    project, _, _ = firmware
    manifest = project.source / "usmp.toml"
    edit(manifest, '"FLASH"', '"TCM"\nload_region = "FLASH"')
    code, text = project.try_to_build()
    assert code != 0
    message = (
        r"usmp: pools tcm \(([\d,]+) bytes\) and flash \(([\d,]+) bytes\) need ([\d,]+) bytes, and region TCM has fewer"
    )
    match = re.search(message, text)
    assert match is not None, text
    tcm, flash, both = (int(number.replace(",", "")) for number in match.groups())
    assert tcm + flash == both > 4096


def test_a_pool_with_an_origin_is_placed_there_and_others_behind_it(firmware: tuple[Project, str, str]) -> None:
    project, nm, _ = firmware
    manifest = project.source / "usmp.toml"
    rest = '[pools.rest]\naccess = "rw"\nregion = "TCM"\n\n[pools.tcm]\nsize = 512\norigin = 0x30000200\n'
    manifest.write_text(manifest.read_text().replace("[pools.tcm]\n", rest) + 'workspace_pools = ["tcm", "rest"]\n')
    project.build()
    symbols = addresses(nm, project.binary / "firmware")
    assert symbols["__usmp_tcm_start"] == 0x30000200
    assert symbols["__usmp_tcm_end"] <= symbols["__usmp_rest_start"] < symbols["__usmp_rest_end"] <= 0x30001000


def for_a_board(tmp_path: Path, find: str, generator: str) -> Project:
    """The firmware, configured for a board; its toolchain file hides packages of this machine."""
    need_cmake(generator)
    need("arm-none-eabi-gcc")
    source = copy_project("bare_metal", tmp_path / "source", {"digits.tflite": "digits"})
    project = Project(source, tmp_path / "build", generator)
    project.configure(find, PYTHON, f"-DCMAKE_TOOLCHAIN_FILE={source}/arm-none-eabi.cmake")
    return project


@EACH_GENERATOR
def test_pools_of_an_image_are_in_their_memories(tmp_path: Path, find: str, generator: str) -> None:
    project = for_a_board(tmp_path, find, generator)
    assert {"plan", "compile digits.c", "link firmware"} <= set(project.build())
    (image,) = [path for path in project.binary.rglob("firmware") if path.is_file()]
    check(project.generated, image)
    assert project.build() == []


@NINJA_AND_MAKE
def test_linking_a_model_is_enough(tmp_path: Path, find: str, generator: str) -> None:
    """The script finds the fragment, which is linked again when it changes, and must be included."""
    project = for_a_board(tmp_path, find, generator)
    lists, script, manifest = (project.source / name for name in ("CMakeLists.txt", "link.ld", "usmp.toml"))
    edit(lists, "usmp_link_pools(firmware plan)\n", "")
    code, text = project.try_to_build()
    assert code == 0, text
    assert "Checking the pools" not in text
    check(project.generated, project.binary / "firmware")
    edit(manifest, 'region = "TCM"', 'region = "RAM"')
    touch(manifest)
    assert project.build() == ["link firmware", "plan"]
    check(project.generated, project.binary / "firmware")

    edit(script, "INCLUDE bare.ld", "")
    touch(script)
    code, text = project.try_to_build()
    assert code != 0
    assert "undefined symbol `__usmp.INCLUDE_bare.ld' referenced in expression" in text
    with lists.open("a", encoding="utf-8") as more:
        more.write("usmp_link_pools(firmware plan NO_CHECK)\n")
    touch(lists)
    assert project.build() == ["link firmware"]


@NINJA_AND_MAKE
def test_the_build_says_how_full_pools_are_when_that_changes(tmp_path: Path, find: str, generator: str) -> None:
    need_cmake(generator)
    source = copy_project("bare_metal", tmp_path / "source", {"digits.tflite": "digits"})
    manifest = source / "usmp.toml"
    edit(manifest, 'region = "TCM"', 'size = "4 KiB"')
    project = Project(source, tmp_path / "build", generator)
    project.configure(find, PYTHON)
    code, text = project.try_to_build("--target", "plan_gen")
    assert code == 0, text
    assert "\nbare: tcm 1,543 of 4,096 bytes\nbare: flash 5,212 bytes\n" in text
    touch(manifest)
    code, text = project.try_to_build("--target", "plan_gen")
    assert code == 0, text
    assert "0 of them changed" in text
    assert "bare: " not in text


def test_the_report_is_the_plan_with_the_overrides_of_the_build(tmp_path: Path, find: str) -> None:
    need_cmake()
    source = copy_project("bare_metal", tmp_path / "source", {"digits.tflite": "digits"})
    edit(source / "usmp.toml", "[pools.flash]", '[pools.rest]\naccess = "rw"\n[pools.flash]')
    edit(
        source / "CMakeLists.txt",
        "usmp_add_manifest(plan MANIFEST usmp.toml)",
        "usmp_add_plan(plan MANIFEST usmp.toml)\nusmp_add_model(digits PLAN plan WORKSPACE_POOLS rest)",
    )
    project = Project(source, tmp_path / "build")
    project.configure(find, PYTHON)
    code, text = project.try_to_build("--target", "plan_report")
    assert code == 0, text
    shown = call("plan", source / "usmp.toml", "--model=digits", "--workspace-pools=digits=rest").out
    assert "digits: workspace_pools = rest is an override, not in the manifest" in shown
    assert shown in text
    code, text = project.try_to_build("--target", "plan_page")
    assert code == 0, text
    rows = table(tree((project.binary / "plan.html").read_text(encoding="utf-8")), "buffer")
    assert {row[0].partition(".")[0] for row in rows[1:]} == {"digits"}


@NINJA_AND_MAKE
def test_an_image_that_is_not_as_planned_fails_the_build_until_it_is(tmp_path: Path, find: str, generator: str) -> None:
    project = for_a_board(tmp_path, find, generator)
    script = project.source / "link.ld"
    good = edit(script, "INCLUDE bare.ld", "")
    for _ in range(2):  # a failure is not forgotten
        code, text = project.try_to_build()
        assert code != 0
        assert 'error[S621]: pool "tcm": section .usmp.bare.tcm is at 0x' in text
        assert "help: INCLUDE bare.ld in SECTIONS" in text
        assert "Traceback" not in text
    script.write_text(good)
    touch(script)
    code, text = project.try_to_build()
    assert code == 0, text
    assert "every pool is as planned" in text
    assert project.build() == []


def test_floating_point_needs_no_further_library(tmp_path: Path, find: str) -> None:
    need_cmake()
    project = Project(write_files(tmp_path / "source", FLOATING), tmp_path / "build")
    project.configure(find, PYTHON)
    assert "link app" in project.build()
    assert run([project.app]).code == 0


FLOATING = {
    "usmp.toml": '[project]\nname = "p"\n[models.float_net]\npath = "DATA/float_net.tflite"\n',
    "app.c": '#include "float_net.h"\nint main(void) { return float_net_run() != USMP_OK; }\n',
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.22)
project(p C)
find_package(usmp_build REQUIRED)
usmp_add_manifest(plan MANIFEST usmp.toml)
add_executable(app app.c)
target_link_libraries(app PRIVATE usmp::float_net)
""",
}
