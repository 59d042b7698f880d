"""Zephyr: plans in an application, against a stand-in for Zephyr's CMake package, in QEMU."""

from pathlib import Path

import pytest

from tests.support.checked_in import check, generate
from tests.support.cmake import PYTHON, Project, need_cmake
from tests.support.files import copy_project, edit, touch, write_files
from tests.support.models import check_answers
from tests.support.processes import output
from tests.support.tools import need
from tests.support.tree import OF_CMAKE, ROOT, copy

STAND_IN = ROOT / "tests" / "support" / "stand_ins" / "zephyr"
MANIFEST = """\
[project]
name = "doorbell"

[pools.sram1]
access = "rw"
region = "SRAM1"
size = 512

[pools.sram]
access = "rw"
region = "RAM"

[pools.flash]
access = "ro"
region = "FLASH"

[models.digits]
path = "digits.tflite"

[models.odd_even]
path = "odd_even.tflite"
workspace_pools = ["sram"]

[plan]
rows = false
"""
LISTS = """\
cmake_minimum_required(VERSION 3.22)
find_package(Zephyr REQUIRED)
project(doorbell LANGUAGES C)
ADD
target_sources(app PRIVATE main.c)
target_link_libraries(app PRIVATE usmp::digits usmp::odd_even)
usmp_zephyr(usmp::doorbell)
usmp_zephyr(usmp::doorbell)
"""
PLANNED = "usmp_add_manifest(plan MANIFEST usmp.toml)"
WAYS = {
    "module": PLANNED,
    "package": f"find_package(usmp_build CONFIG REQUIRED)\n{PLANNED}",
    "checked in": "add_subdirectory(generated)",
}
MODELS = {"digits.tflite": "digits", "odd_even.tflite": "odd_even"}
QEMU = (
    "qemu-system-arm -M mps2-an385 -display none -monitor none -serial none "
    "-semihosting-config enable=on,target=native -kernel"
).split()


def application(folder: Path, way: str) -> Project:
    """Write and configure an application that gets its plan in one of the ways."""
    need_cmake("Ninja")
    need("arm-none-eabi-gcc", "qemu-system-arm")
    source = copy_project("two_folders", folder / "source", MODELS)
    write_files(source, {"CMakeLists.txt": LISTS.replace("ADD", WAYS[way]), "usmp.toml": MANIFEST})
    if way == "checked in":
        generate(source / "usmp.toml", source / "generated")
    ours = copy(folder / "usmp_build", *OF_CMAKE, "CMakeLists.txt", "zephyr")
    where = {"module": [f"-DZEPHYR_EXTRA_MODULES={ours}"], "package": [f"-Dusmp_build_DIR={ours}/cmake"]}
    project = Project(source, folder / "build", "Ninja")
    project.configure(f"-DZephyr_DIR={STAND_IN}", PYTHON, *where.get(way, []))
    return project


@pytest.mark.parametrize("way", WAYS)
def test_models_run_from_pools_in_their_memories(tmp_path: Path, way: str) -> None:
    project = application(tmp_path, way)
    project.build()
    image = project.binary / "zephyr" / "zephyr.elf"
    check_answers(image, QEMU)
    check(project.source / "generated" if way == "checked in" else project.generated, image)
    symbols = {name: int(value, 16) for value, _, name in map(str.split, nm(image))}
    assert symbols["__usmp_sram1_start"] == 0x21000000
    assert 0x20000000 <= symbols["__usmp_sram_start"] < symbols["__usmp_sram_end"] <= symbols["_end"], "malloc's heap"
    assert project.build() == []

    if way != "checked in":
        manifest = project.source / "usmp.toml"
        edit(manifest, 'region = "SRAM1"', 'region = "RAM"')
        touch(manifest)
        assert {"plan", "link zephyr.elf"} <= {*project.build()}
        check(project.generated, image)


def nm(image: Path) -> list[str]:
    """The symbols of an image, a line each."""
    return output(["arm-none-eabi-nm", "--defined-only", image]).splitlines()


def test_elsewhere_it_says_what_is_missing(tmp_path: Path) -> None:
    need_cmake("Ninja")
    lists = "cmake_minimum_required(VERSION 3.22)\nproject(app LANGUAGES C)\nadd_subdirectory(generated)\n"
    source = copy_project(
        "two_folders", tmp_path / "source", {"digits.tflite": "digits", "odd_even.tflite": "odd_even"}
    )
    write_files(source, {"CMakeLists.txt": f"{lists}usmp_zephyr(usmp::doorbell)\n", "usmp.toml": MANIFEST})
    generate(source / "usmp.toml", source / "generated")
    code, text = Project(source, tmp_path / "build", "Ninja").try_to_configure()
    assert code == 1
    assert "this is not a build of Zephyr; call find_package(Zephyr) first" in " ".join(text.split())
