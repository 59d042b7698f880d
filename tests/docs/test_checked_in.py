"""docs/build-systems.md: a folder is generated, compared, checked in, and builds with each build system."""

import shutil
from pathlib import Path

import pytest

from tests.support.bazel import EXAMPLE, need_bazel, served
from tests.support.checked_in import check
from tests.support.cli import RO, RW, tables
from tests.support.doorbell import HOOK, MAIN, MODELS
from tests.support.files import PROJECTS, write_files
from tests.support.page_files import generated, give_models
from tests.support.processes import run
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tools import need

MANIFEST = tables("doorbell", {"sram": f'{RW}region = "RAM"\n', "flash": f'{RO}region = "FLASH"\n'}, {})
START = """
int main(void);
void _start(void);
void _start(void) { (void)main(); }
"""
ALONE = """
#include "kws.h"
void _start(void);
void _start(void) { (void)kws_run(); }
"""
BOARD = """
ENTRY(_start)
MEMORY { FLASH (rx) : ORIGIN = 0x00400000, LENGTH = 128K  RAM (rw) : ORIGIN = 0x20000000, LENGTH = 64K }
SECTIONS
{
    .text : { *(.text*) *(.rodata*) *(.ARM*) } > FLASH
    INCLUDE doorbell.ld
    .data : { *(.data*) *(.bss*) *(COMMON) } > RAM
}
"""
HOOKED = """
target_compile_definitions(doorbell_usmp PUBLIC USMP_HOOK)
target_sources(app PRIVATE hook.c)
"""
MAKEFILE = """
include generated/usmp.mk

CPPFLAGS += $(DOORBELL_CPPFLAGS) -MMD -MP

app: main.o $(DOORBELL_OBJECTS) $(DOORBELL_LINK_DEPENDS)
	$(CC) $(LDFLAGS) $(DOORBELL_LDFLAGS) $(filter %.o,$^) $(DOORBELL_LDLIBS) -o $@

-include main.d
"""
POOLS = 'load("//generated:usmp.bzl", "POOL_SECTIONS", "POOL_SIZES")\n'
WORKSPACE = """
workspace(name = "app")
local_repository(name = "usmp_build", path = "../usmp_build")
load("@usmp_build//bazel/workspace:stand_ins.bzl", "stand_ins")
stand_ins()
load("//toolchain:arm_gcc.bzl", "arm_gcc")
arm_gcc(name = "arm_gcc")
register_toolchains("@arm_gcc//:toolchain")
"""
PLATFORM = 'platform(name = "board", constraint_values = ["@platforms//cpu:arm", "@platforms//os:none"])\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a generated folder."""
    home = tmp_path / "app"
    home.mkdir()
    give_models(home, kws="digits", vww="odd_even")
    generated(home, MANIFEST + MODELS)
    (home / "main.c").write_text(MAIN, encoding="utf-8")
    return home


@runs("docs/build-systems.md#a-checked-in-folder")
def test_generating(page: Page, shell: Shell, project: Path) -> None:
    shutil.rmtree(project / "generated")
    here = shell.at(project)
    here.output("git init -q")
    here.run(page.take("sh"))
    staged = here.output("git diff --cached --name-only").split()
    assert staged == sorted(f"generated/{path.name}" for path in (project / "generated").iterdir())


@runs("docs/build-systems.md#checked-in-with-cmake")
def test_cmake(page: Page, shell: Shell, project: Path) -> None:
    here, lists = shell.at(project), project / "CMakeLists.txt"
    text = page.take("cmake").text
    lists.write_text(text, encoding="utf-8")
    here.output("cmake -B build\ncmake --build build\nbuild/app")

    (project / "hook.c").write_text(HOOK, encoding="utf-8")
    lists.write_text(text + HOOKED, encoding="utf-8")
    here.output("cmake -B hooked\ncmake --build hooked\nhooked/app | grep vww")

    need("arm-none-eabi-gcc")
    lists.write_text(page.take("cmake").text, encoding="utf-8")
    (project / "start.c").write_text(START, encoding="utf-8")
    (project / "board.ld").write_text(BOARD, encoding="utf-8")
    board = f"--toolchain={PROJECTS}/bare_metal/arm-none-eabi.cmake"
    message = here.output(f"cmake -B plain {board}\ncmake --build plain\ntest ! -e plain/plan.usmp")
    assert 'the image of "firmware.elf" is not checked' in message
    check(project / "generated", project / "plain" / "firmware.elf")
    package_folder = '-Dusmp_build_DIR="$(python -m usmp_build --cmake-dir)"'
    message = here.output(f"cmake -B planning {board} {package_folder}\ncmake --build planning")
    assert "every pool is as planned" in message
    check(project / "planning" / "plan.usmp", project / "planning" / "firmware.elf")


@runs("docs/build-systems.md#checked-in-with-make")
def test_make(page: Page, shell: Shell, project: Path) -> None:
    here = shell.at(project)
    (project / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    here.output("make -j2\n./app\nmake -q")

    need("arm-none-eabi-gcc")
    here.output("rm -r build *.o *.d")
    (project / "Makefile").write_text(page.take("make").text, encoding="utf-8")
    (project / "start.c").write_text(START, encoding="utf-8")
    (project / "board.ld").write_text(BOARD, encoding="utf-8")
    here.output("make -j2\nmake -q")
    check(project / "generated", project / "firmware.elf")


@runs("docs/build-systems.md#checked-in-with-meson")
def test_meson(page: Page, shell: Shell, project: Path) -> None:
    need("meson", "ninja")
    (project / "meson.build").write_text(page.take("meson").text, encoding="utf-8")
    shell.at(project).output("meson setup build\nninja -C build\nbuild/app")


@runs("docs/build-systems.md#checked-in-with-bazel")
def test_bazel(page: Page, project: Path, bazel_cache: Path) -> None:
    need_bazel()
    rule, _, binaries = page.take("starlark").text.partition("\n\n")
    pools = '[print("%s: %s" % (POOL_SECTIONS[pool], POOL_SIZES[pool])) for pool in POOL_SIZES]\n'
    files = {
        "BUILD.bazel": "\n".join([rule, POOLS, binaries, pools, PLATFORM]),
        "WORKSPACE": WORKSPACE,
        ".bazelrc": "build --incompatible_enable_cc_toolchain_resolution\n",
        "board.ld": BOARD,
    }
    write_files(project, files)
    shutil.copytree(EXAMPLE / "toolchain", project / "toolchain")
    with served(project, project.parent, bazel_cache) as workspace:
        assert ".usmp.doorbell.sram: 759" in workspace.bazel("build", "//:app").text
        assert run([workspace.built("app")]).code == 0

        need_bazel("arm-none-eabi-gcc")
        (project / "main.c").write_text(ALONE, encoding="utf-8")
        workspace.bazel("build", "--platforms=//:board", "//:firmware.elf")
        check(project / "generated", workspace.built("firmware.elf"))


@runs("docs/build-systems.md#when-the-folder-is-stale")
def test_comparing(page: Page, shell: Shell, project: Path) -> None:
    here, compare = shell.at(project), page.take("sh")
    assert here.run(compare) == 'note: planned for portable C, as "generated" is\ngenerated is up to date\n'
    (project / "generated" / "vww.c").unlink()
    message = here.output(f"{compare.text.strip()} && exit 1 || test $? = 4")
    assert "vww.c is missing" in message
