"""CMake: checked-in folders build without Python, and rebuild what they must."""

import re
from pathlib import Path

import pytest

from tests.support.checked_in import ARM, bare_metal, check, generate, two_models, two_projects, without_python
from tests.support.cmake import COVERING, Project, need_cmake
from tests.support.files import edit, touch, write_files
from tests.support.models import check_answers
from tests.support.processes import run

START = "cmake_minimum_required(VERSION 3.22)\nproject(firmware LANGUAGES C)\n"
APP = """
add_executable(app main.c)
target_link_libraries(app PRIVATE usmp::digits usmp::odd_even)
"""
POOLS = "usmp_link_pools(app usmp::doorbell)\n"


def project(home: Path, lists: str, generator: str = "Unix Makefiles", cmake: str = "cmake") -> Project:
    """The project in the folder `project` with a CMakeLists.txt, and an environment without Python."""
    need_cmake(generator)
    source = write_files(home / "project", {"CMakeLists.txt": lists})
    tool = "make" if generator == "Unix Makefiles" else "ninja"
    return Project(source, home / "build", generator, env=without_python(home.parent / "bin", cmake, tool))


@COVERING
def test_a_folder_builds_without_python_and_rebuilds_right(tmp_path: Path, cmake: str, generator: str) -> None:
    home = tmp_path / "a b"
    generated = two_models(home / "project") / "generated"
    property_ = "get_target_property(size usmp::doorbell USMP_SRAM_SIZE)\nmessage(NOTICE sram=${size})\n"
    this = project(home, f"{START}add_subdirectory(generated)\n{APP}{POOLS}{property_}", generator, cmake)
    assert re.search(r"^sram=1543$", this.configure(), re.MULTILINE)
    files = ("main.c", "digits.c", "odd_even.c", "doorbell_kernels.c", "doorbell_pools.c")
    assert {step for step in this.build() if step.startswith("compile")} == {f"compile {file}" for file in files}
    check_answers(this.app)

    assert this.build() == []
    touch(generated / "doorbell.ld")
    assert this.build() == ["link app"]
    touch(generated / "doorbell_copy_table.ld")
    assert this.build() == ["link app"]
    touch(generated / "odd_even_constants.h")
    steps = this.build()
    assert {step for step in steps if step.startswith("compile")} == {"compile doorbell_pools.c", "compile odd_even.c"}
    assert "link app" in steps
    assert this.build() == []


def test_included_by_every_way_it_is_there_once(tmp_path: Path) -> None:
    two_models(tmp_path / "home" / "project")
    include = "include(generated/usmp-targets.cmake)\n"
    this = project(tmp_path / "home", f"{START}{include}add_subdirectory(generated)\n{include}{APP}{POOLS}")
    assert "Warning" not in this.configure()
    this.build()
    check_answers(this.binary / "app")


def test_a_project_of_c_and_cxx(tmp_path: Path) -> None:
    source = two_models(tmp_path / "home" / "project")
    (source / "main.c").rename(source / "main.cpp")
    lists = f"{START}add_subdirectory(generated)\n{APP}{POOLS}".replace("main.c", "main.cpp")
    this = project(tmp_path / "home", lists.replace("LANGUAGES C", "LANGUAGES C CXX"))
    this.configure()
    this.build()
    check_answers(this.binary / "app")


def test_a_project_without_c_is_told_so(tmp_path: Path) -> None:
    two_models(tmp_path / "home" / "project")
    this = project(tmp_path / "home", START.replace("LANGUAGES C", "LANGUAGES CXX") + "add_subdirectory(generated)\n")
    code, message = this.try_to_configure()
    assert code != 0
    assert "doorbell is C, which this project does not enable" in message.replace("\n ", "")


def test_two_folders_of_different_projects(tmp_path: Path) -> None:
    two_projects(tmp_path / "home" / "project")
    this = project(tmp_path / "home", f"{START}add_subdirectory(left)\nadd_subdirectory(right)\n{APP}")
    this.configure()
    this.build()
    check_answers(this.binary / "app")
    touch(this.source / "right" / "right.ld")
    assert this.build() == ["link app"]


@pytest.mark.parametrize(
    "option",
    ["CMAKE_UNITY_BUILD=ON", "CMAKE_INTERPROCEDURAL_OPTIMIZATION=ON", "CMAKE_C_STANDARD=90", "BUILD_SHARED_LIBS=ON"],
)
def test_settings_of_the_whole_build(tmp_path: Path, option: str) -> None:
    two_models(tmp_path / "home" / "project")
    this = project(tmp_path / "home", f"{START}add_subdirectory(generated)\n{APP}{POOLS}")
    this.configure(f"-D{option}", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
    this.build()
    check_answers(this.binary / "app")


def test_floating_point_needs_no_further_library(tmp_path: Path) -> None:
    (tmp_path / "home" / "project").mkdir(parents=True)
    (tmp_path / "usmp.toml").write_text('[project]\nname = "p"\n', encoding="utf-8")
    generate(tmp_path / "usmp.toml", tmp_path / "home" / "project" / "generated", float_net="float_net")
    app = "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE usmp::float_net)\n"
    this = project(tmp_path / "home", f"{START}include(generated/usmp-targets.cmake)\n{app}")
    main = '#include "float_net.h"\nint main(void) { return float_net_run() != USMP_OK; }\n'
    (this.source / "main.c").write_text(main, encoding="utf-8")
    this.configure()
    assert "link app" in this.build()
    assert run([this.app]).code == 0


@pytest.mark.parametrize("optimization", ["OFF", "ON"])
def test_a_firmware_has_its_pools_where_they_are_planned(tmp_path: Path, optimization: str) -> None:
    need_cmake()
    source = bare_metal(tmp_path / "project")
    lists = f"""{START}add_subdirectory(generated)
        add_executable(firmware main.c)
        target_link_libraries(firmware PRIVATE usmp::digits)
        target_link_options(firmware PRIVATE -nostdlib "LINKER:-T,${{CMAKE_CURRENT_SOURCE_DIR}}/link.ld")
        """
    write_files(source, {"CMakeLists.txt": lists})
    this = Project(source, tmp_path / "build", env=without_python(tmp_path / "bin", "cmake", "make", *ARM))
    flags = "-DCMAKE_C_FLAGS_RELEASE=-O2 -fno-builtin"
    optimized = f"-DCMAKE_INTERPROCEDURAL_OPTIMIZATION={optimization}"
    this.configure(
        f"-DCMAKE_TOOLCHAIN_FILE={source}/arm-none-eabi.cmake", "-DCMAKE_BUILD_TYPE=Release", flags, optimized
    )
    this.build()
    check(source / "generated", this.binary / "firmware")
    fragment = source / "generated" / "bare.ld"
    edit(fragment, "> TCM", "> RAM")
    assert this.build() == ["link firmware"]

    edit(source / "link.ld", "INCLUDE bare.ld", "")
    touch(fragment)
    code, text = this.try_to_build()
    assert code != 0
    assert "undefined symbol `__usmp.INCLUDE_bare.ld' referenced in expression" in text
    call = "usmp_link_pools(firmware usmp::bare{})\n"
    (source / "CMakeLists.txt").write_text(lists + call.format(""), encoding="utf-8")
    assert 'usmp_build was not found: the image of "firmware" is not checked' in this.configure()
    (source / "CMakeLists.txt").write_text(lists + call.format(" NO_CHECK"), encoding="utf-8")
    assert "is not checked" not in this.configure()
    this.build()
