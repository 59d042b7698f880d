"""docs/build-systems.md: every piece of its CMake is part of a project that configures, builds and runs."""

import json
import re
import shutil
from pathlib import Path

from tests.support.cli import RO, RW, tables
from tests.support.cmake import PYTHON
from tests.support.doorbell import HOOK, MAIN, MODELS
from tests.support.files import write_files
from tests.support.page_files import give_models
from tests.support.shell import Shell
from tests.support.snippets import Page, Snippet, runs
from tests.support.tools import need

MANIFEST = tables("doorbell", {"dtcm": RW, "sram": RW, "flash": RO}, {}) + "[plan]\nrows = false\n"
"""Planned in a tenth of the time: what is tested is the build."""
KWS = '#include "kws.h"\nint recognize(void);\nint recognize(void) { return kws_run(); }\n'
VWW = '#include "vww.h"\nint detect(void);\nint detect(void) { return vww_run(); }\n'
START = "cmake_minimum_required(VERSION 3.22)\nproject(doorbell LANGUAGES C)\n"
FIND = "find_package(usmp_build 0.1 CONFIG REQUIRED)\n"
PLAN = "usmp_add_plan(plan MANIFEST usmp.toml)\n"
KWS_MODEL = "add_usmp_model(kws PLAN plan MODEL models/kws.tflite)\n"
VWW_MODEL = "add_usmp_model(vww PLAN plan MODEL models/vww.tflite)\n"
APP = "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE usmp::kws usmp::vww)\n"
LINK_POOLS = "usmp_link_pools(app plan)\n"
CONFIGURE = f'cmake -B build "{PYTHON}" -Dusmp_build_DIR="$(python -m usmp_build --cmake-dir)"'
"""Where a page does not say how."""
TOOLCHAIN = """set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_FIND_ROOT_PATH "${CMAKE_CURRENT_LIST_DIR}")
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
"""


def project(shell: Shell, lists: str, manifest: str = MANIFEST + MODELS) -> None:
    """Write the project, and forget what was built of another one."""
    files = {"CMakeLists.txt": lists, "usmp.toml": manifest, "main.c": MAIN, "recognizer.c": KWS, "detector.c": VWW}
    write_files(shell.folder, files)
    give_models(shell.folder, kws="digits", vww="odd_even")
    shutil.rmtree(shell.folder / "build", ignore_errors=True)


def builds(shell: Shell, *pieces: str | Snippet, configure: str = CONFIGURE) -> None:
    """Build a project of these pieces, and run its program."""
    project(shell, START + "".join(piece if isinstance(piece, str) else piece.text for piece in pieces))
    shell.output(f"{configure} && cmake --build build && build/app")


@runs("docs/build-systems.md#find-the-package")
def test_finding_the_package(page: Page, shell: Shell, checkout: Path) -> None:
    configure = page.take("sh")
    project(shell, START + page.take("cmake").text + PLAN + KWS_MODEL + VWW_MODEL + APP)
    shell.run(configure)
    shell.output("build/app")
    builds(shell, page.take("cmake"), PLAN, KWS_MODEL, VWW_MODEL, APP, configure="cmake -B build")
    (shell.folder / "third_party").mkdir()
    (shell.folder / "third_party" / "usmp_build").symlink_to(checkout)
    builds(shell, page.take("cmake"), PLAN, KWS_MODEL, VWW_MODEL, APP, configure="cmake -B build")


@runs("docs/build-systems.md#functions")
def test_adding_models(page: Page, shell: Shell) -> None:
    builds(shell, FIND, page.take("cmake"), APP, LINK_POOLS)
    builds(shell, FIND, page.take("cmake"), APP, LINK_POOLS)
    plan = json.loads((shell.folder / "build" / "plan.usmp" / "plan.json").read_text("utf-8"))
    assert plan["concurrent"] == [["kws", "vww"]]
    builds(shell, FIND, PLAN, page.take("cmake"), VWW_MODEL, APP)


@runs("docs/build-systems.md#the-linker-script")
def test_the_linker_script_of_a_program_that_links_a_model(page: Page, shell: Shell) -> None:
    script = shell.folder / "board.ld"
    script.write_text("MEMORY { FLASH : ORIGIN = 4M, LENGTH = 1M }\n" + page.take("ld").text.replace("...", ""))
    options = f"target_link_options(app PRIVATE -nostdlib -r [[LINKER:-T,{script.as_posix()}]])\n"
    project(shell, START + FIND + PLAN + KWS_MODEL + VWW_MODEL + APP + options)
    shell.output(f"{CONFIGURE} && cmake --build build")
    assert "__usmp_dtcm_size" in shell.output("nm build/app")


@runs("docs/build-systems.md#compiler-options")
def test_kernels_have_the_options_of_the_program(page: Page, shell: Shell) -> None:
    need("arm-none-eabi-gcc")
    compiler = "set(CMAKE_C_COMPILER arm-none-eabi-gcc)\nset(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)\n"
    (shell.folder / "arm.cmake").write_text(TOOLCHAIN + compiler, encoding="utf-8")
    project(shell, START + FIND + PLAN + KWS_MODEL + page.take("cmake").text)
    message = shell.output(f"{CONFIGURE} --toolchain arm.cmake && cmake --build build --target kws --verbose")
    assert re.search("-mcpu=cortex-m4 -mthumb -O2 .*doorbell_kernels.c", message), message

    (shell.folder / "hook.c").write_text(HOOK, encoding="utf-8")
    builds(shell, FIND, PLAN, KWS_MODEL, VWW_MODEL, page.take("cmake"), APP, "target_sources(app PRIVATE hook.c)\n")


@runs("docs/build-systems.md#libraries-that-hold-models")
def test_libraries(page: Page, shell: Shell) -> None:
    builds(shell, FIND, PLAN, KWS_MODEL, VWW_MODEL, page.take("cmake"), APP)
    builds(shell, FIND, PLAN, KWS_MODEL, VWW_MODEL, page.take("cmake"), APP)
    shell.output("cmake --install build --prefix installed && test -f installed/include/vww.h")


def test_a_toolchain_file_that_looks_elsewhere_for_packages(shell: Shell) -> None:
    (shell.folder / "arm.cmake").write_text(TOOLCHAIN, encoding="utf-8")
    project(shell, START + FIND + PLAN + KWS_MODEL + VWW_MODEL)
    shell.output(f"{CONFIGURE} --toolchain arm.cmake")
