"""CMake: one interface, whether a plan is made by this build or checked in, and whether usmp_build is here or not."""

import re
from pathlib import Path

import pytest

from tests.support.checked_in import bare_metal
from tests.support.cli import succeed
from tests.support.cmake import EVERY_CMAKE, PYTHON, Project, need_cmake
from tests.support.files import edit, write_files
from tests.support.tools import need

START = "cmake_minimum_required(VERSION 3.22)\nproject(test C)\n"
TARGETS = """add_executable(app main.c)
add_executable(my::app ALIAS app)
add_library(so SHARED EXCLUDE_FROM_ALL main.c)
"""
FIND = "find_package(usmp_build CONFIG)\n"
PLANS = {
    "planned": f"{FIND}usmp_add_manifest(plan MANIFEST usmp.toml)\n",
    "checked in": "add_subdirectory(generated)\n",
    "checked in, and the package is here": f"{FIND}add_subdirectory(generated)\n",
}
"""Where the plan usmp::p comes from, and whose usmp_link_pools() is called."""
EACH = pytest.mark.parametrize("plan", PLANS)
FILES = {
    "usmp.toml": '[project]\nname = "p"\n[models.digits]\npath = "DATA/digits.tflite"\n',
    "main.c": '#include "digits.h"\nint main(void) { return digits_run() != USMP_OK; }\n',
    "below/CMakeLists.txt": "usmp_link_pools(app usmp::p CHECK)\n",
}
QUICK = ("-DCMAKE_C_COMPILER_FORCED=ON", "-DCMAKE_C_COMPILER_ID_RUN=ON")
"""Nothing is compiled: CMake need not get to know the compiler."""


def project(tmp_path: Path, lists: str, cmake: str = "cmake") -> Project:
    """A project with an executable and a library, and a folder of generated files."""
    need_cmake(cmake=cmake)
    source = write_files(tmp_path / "source", FILES | {"CMakeLists.txt": f"{START}{TARGETS}{lists}"})
    succeed("generate", source / "usmp.toml", "--out", source / "generated")
    return Project(source, tmp_path / "build", cmake=cmake)


@EACH
@pytest.mark.parametrize(
    ("call_", "message"),
    [
        ("usmp_link_pools(nobody usmp::p)", 'usmp_link_pools(nobody usmp::p): there is no target "nobody" yet'),
        ("usmp_link_pools(usmp::p usmp::p)", 'usmp_link_pools(usmp::p usmp::p): nothing links "usmp::p"; name the'),
        ("usmp_link_pools(app plans)", 'usmp_link_pools(app plans): there is no plan "plans" yet; usmp_add_plan()'),
        ("usmp_link_pools(app so)", 'usmp_link_pools(app so): there is no plan "so" yet; usmp_add_plan()'),
        ("usmp_link_pools(app usmp::p x CHECK y)", "usmp_link_pools(app usmp::p): unknown argument: x y"),
        ("usmp_link_pools(app usmp::p NO)", "usmp_link_pools(app usmp::p): unknown argument: NO"),
        ("usmp_link_pools(app usmp::p X-NOTFOUND)", "usmp_link_pools(app usmp::p): unknown argument: X-NOTFOUND"),
        ("usmp_link_pools(so usmp::p CHECK)", 'CHECK reads the image of an executable, which "so" is not'),
        ("add_subdirectory(below)", 'CHECK can be said only in the folder that adds "app", "/'),
    ],
)
def test_a_wrong_call_is_the_same_error(tmp_path: Path, find: str, plan: str, call_: str, message: str) -> None:
    code, text = project(tmp_path, f"{PLANS[plan]}{call_}\n").try_to_configure(find, PYTHON, *QUICK)
    assert code != 0
    assert message in re.sub(r"\s+", " ", text)


@EACH
@EVERY_CMAKE
def test_the_plan_has_the_same_properties(tmp_path: Path, find: str, plan: str, cmake: str) -> None:
    wanted = {
        "USMP_PROJECT": "p",
        "USMP_MODELS": "digits",
        "USMP_LINKER_FRAGMENT": "p.ld",
        "USMP_COPY_TABLE": "p_copy_table.ld",
        "USMP_PLAN_JSON": "plan.json",
        "UNITY_BUILD": "OFF",
        "PUBLIC_HEADER": "p.h p_guard.h p_kernels.h p_shared_constants.h usmp.h usmp_regions.h",
    }
    shown = "".join(f"get_target_property(it usmp::p {name})\nmessage(NOTICE {name}=[${{it}}])\n" for name in wanted)
    model = "get_target_property(it usmp::digits PUBLIC_HEADER)\nmessage(NOTICE of_model=[${it}])\n"
    dir_ = "get_target_property(it usmp::p USMP_DIR)\nmessage(NOTICE USMP_DIR=[${it}])\n"
    text = project(tmp_path, PLANS[plan] + shown + model + dir_, cmake).configure(find, PYTHON, *QUICK)
    values = dict(re.findall(r"(?m)^(\w+)=\[(.*)\]$", text))
    assert {values.pop("USMP_DIR")} >= {str(Path(path).parent) for path in values.pop("of_model").split(";")}
    names = {name: " ".join(sorted(path.rpartition("/")[2] for path in it.split(";"))) for name, it in values.items()}
    assert names == wanted


@pytest.mark.parametrize("package", ["", FIND, "find_package(usmp_build QUIET)\n"])
def test_without_the_tool_one_message_tells_that_nothing_checks(tmp_path: Path, find: str, package: str) -> None:
    """The package may be there, and no interpreter that runs it: its function is the one that is called then."""
    pools = "usmp_link_pools(app usmp::p CHECK)\nusmp_link_pools(my::app usmp::p CHECK)\n"
    app = "target_link_libraries(app PRIVATE usmp::digits)\n"
    this = project(tmp_path, f"{package}add_subdirectory(generated)\n{app}{pools}")
    text = this.configure(find, "-DUSMP_BUILD_PYTHON=/no/python")
    assert text.count('-- usmp_build was not found: the image of "app" is not checked\n') == 1
    assert "link app" in this.build()


def test_a_checked_in_plan_gets_no_further_model(tmp_path: Path, find: str) -> None:
    more = "add_usmp_model(more PLAN usmp::p MODEL usmp.toml)\n"
    this = project(tmp_path, FIND + PLANS["checked in"] + more)
    code, text = this.try_to_configure(find, PYTHON, *QUICK)
    assert code != 0
    assert 'the files of plan "p_usmp" are checked in; generate them again' in re.sub(r"\s+", " ", text)


def test_a_checked_in_plan_is_checked_where_usmp_build_is(tmp_path: Path, find: str) -> None:
    need_cmake()
    need("arm-none-eabi-gcc")
    source = bare_metal(tmp_path / "project")
    lists = f"""{START}{FIND}add_subdirectory(generated)
        add_executable(firmware main.c)
        target_link_libraries(firmware PRIVATE usmp::digits)
        target_link_options(firmware PRIVATE -nostdlib "LINKER:-T,${{CMAKE_CURRENT_SOURCE_DIR}}/link.ld")
        usmp_link_pools(firmware usmp::bare CHECK)
        """
    write_files(source, {"CMakeLists.txt": lists})
    this = Project(source, tmp_path / "build")
    this.configure(find, PYTHON, f"-DCMAKE_TOOLCHAIN_FILE={source}/arm-none-eabi.cmake")
    code, text = this.try_to_build()
    assert code == 0, text
    assert "every pool is as planned" in text
    assert this.build() == []


BOARD = "-DCMAKE_SYSTEM_NAME=Generic"
REGION = '[pools.ram]\naccess = "rw"\nregion = "RAM"\n'


@pytest.mark.parametrize(
    ("options", "pools", "call_", "is_checked"),
    [
        ([BOARD], REGION, "usmp_link_pools(app plan)", True),
        ([BOARD], REGION, "usmp_link_pools(app plan NO_CHECK)", False),
        ([BOARD], REGION + 'owner = "application"\n', "usmp_link_pools(app plan)", False),
        ([BOARD], "", "usmp_link_pools(app plan)", False),
        ([], REGION, "usmp_link_pools(app plan)", False),
        ([], "", "usmp_link_pools(app plan CHECK)", True),
        ([BOARD], REGION, "add_subdirectory(below)", False),
    ],
    ids=["board", "not_wanted", "of_the_application", "no_region", "host", "host_and_wanted", "in_another_folder"],
)
def test_images_of_boards_are_checked_where_a_pool_names_a_region(
    tmp_path: Path, find: str, options: list[str], pools: str, call_: str, is_checked: bool
) -> None:
    this = project(tmp_path, f"{PLANS['planned']}{call_}\n")
    edit(this.source / "usmp.toml", "[models.digits]", f"{pools}[models.digits]")
    edit(this.source / "below" / "CMakeLists.txt", " CHECK", "")
    text = this.configure(find, PYTHON, *options, *QUICK)
    rules = (this.binary / "CMakeFiles" / "app.dir" / "build.make").read_text("utf-8")
    assert ("Checking the pools of app" in rules) == is_checked
    assert ('the image of "app" is not checked' in text) == (call_ == "add_subdirectory(below)")


@EACH
def test_a_project_may_ask_for_an_old_cmake(tmp_path: Path, find: str, plan: str) -> None:
    this = project(tmp_path, f"{PLANS[plan]}usmp_link_pools(app usmp::p)\n")
    edit(this.source / "CMakeLists.txt", "VERSION 3.22", "VERSION 3.1")
    assert "CMake Error" not in this.configure(find, PYTHON, *QUICK)


@pytest.mark.parametrize("plan", ["planned", "checked in"])
def test_linters_do_not_read_generated_code(tmp_path: Path, find: str, plan: str) -> None:
    linter = tmp_path / "linter"
    linter.write_text('#!/bin/sh\ncase "$*" in *main.c*) echo it reads main.c;; *) exit 1;; esac\n')
    linter.chmod(0o755)
    this = project(tmp_path, f"{PLANS[plan]}target_link_libraries(app PRIVATE usmp::digits)\n")
    this.configure(find, PYTHON, f"-DCMAKE_C_CLANG_TIDY={linter}", f"-DCMAKE_C_CPPCHECK={linter}")
    code, text = this.try_to_build()
    assert code == 0, text
    assert "it reads main.c" in text


USER = """cmake_minimum_required(VERSION 3.22)
project(user C)
include("${installed}/lib/cmake/detector.cmake")
add_executable(app main.c)
target_link_libraries(app PRIVATE digits_usmp)
"""


def test_libraries_of_a_checked_in_folder_are_installed(tmp_path: Path) -> None:
    exported = (
        "install(TARGETS digits_usmp p_usmp EXPORT detector INCLUDES DESTINATION include)\n"
        "install(EXPORT detector DESTINATION lib/cmake)\n"
    )
    this = project(tmp_path, f"{PLANS['checked in']}{exported}target_link_libraries(app PRIVATE usmp::digits)\n")
    this.configure(f"-DCMAKE_INSTALL_PREFIX={tmp_path}/installed")
    this.build()
    this.build("--target", "install")
    user = Project(write_files(tmp_path / "user", {"CMakeLists.txt": USER, "main.c": FILES["main.c"]}), tmp_path / "b")
    user.configure(f"-Dinstalled={tmp_path}/installed")
    user.build()
