"""Make: checked-in folders build without Python, and rebuild what they must."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import usmp_build
from tests.support.checked_in import (
    ARM,
    bare_metal,
    check,
    generate,
    two_models,
    two_projects,
    without_python,
)
from tests.support.files import edit, touch
from tests.support.models import check_answers
from tests.support.processes import run

MAKEFILE = """\
include generated/usmp.mk

CPPFLAGS += $(DOORBELL_CPPFLAGS) -MMD -MP
app: main.o $(DOORBELL_OBJECTS) $(DOORBELL_LINK_DEPENDS)
	$(CC) $(LDFLAGS) $(DOORBELL_LDFLAGS) $(filter %.o,$^) $(DOORBELL_LDLIBS) -o $@
-include main.d
"""
FIRMWARE = """\
CC := arm-none-eabi-gcc
CFLAGS := -mcpu=cortex-m33 -mthumb -ffreestanding -O2
LDFLAGS := -nostdlib -T link.ld
include generated/usmp.mk

CPPFLAGS += $(BARE_CPPFLAGS) -MMD -MP
firmware: main.o $(BARE_OBJECTS) $(BARE_LINK_DEPENDS) link.ld
	$(CC) $(CFLAGS) $(LDFLAGS) $(BARE_LDFLAGS) $(filter %.o,$^) $(BARE_LDLIBS) -o $@
-include main.d
"""
TWO = """\
include left/usmp.mk
include right/usmp.mk
CPPFLAGS += $(LEFT_CPPFLAGS) $(RIGHT_CPPFLAGS) -MMD -MP
app: main.o $(LEFT_OBJECTS) $(RIGHT_OBJECTS) $(LEFT_LINK_DEPENDS) $(RIGHT_LINK_DEPENDS)
	$(CC) $(LEFT_LDFLAGS) $(RIGHT_LDFLAGS) $(filter %.o,$^) $(LEFT_LDLIBS) $(RIGHT_LDLIBS) -o $@
-include main.d
"""


@dataclass(frozen=True)
class Makefile:
    """A folder with a makefile, and an environment without Python."""

    folder: Path
    env: Mapping[str, str]

    @staticmethod
    def write(folder: Path, text: str, *tools: str) -> Makefile:
        (folder / "Makefile").write_text(text, encoding="utf-8")
        return Makefile(folder, without_python(folder.parent.parent / "bin", "make", *tools))

    def try_to_make(self, *arguments: str) -> tuple[int, str]:
        """Run Make; return its exit code and its output."""
        done = run(["make", *arguments], self.folder, self.env, merged=True)
        return done.code, done.out

    def make(self, *arguments: str) -> list[str]:
        """Run Make; return the files that it wrote, sorted: objects and programs.  Fails the test if Make fails."""
        code, text = self.try_to_make(*arguments)
        assert code == 0, text
        assert "warning" not in text
        return sorted(Path(name).name for name in re.findall(r"^.* -o (\S+)", text, re.MULTILINE))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where projects are: the path of what a makefile calls `.` may hold spaces."""
    return tmp_path / "a b $c #d"


OBJECTS = ["digits.o", "doorbell_kernels.o", "doorbell_pools.o", "odd_even.o"]


def test_a_folder_builds_without_python_and_rebuilds_right(home: Path) -> None:
    this = Makefile.write(two_models(home / "project"), MAKEFILE)
    generated = this.folder / "generated"
    assert this.make("-j4") == sorted(["app", "main.o", *OBJECTS])
    check_answers(this.folder / "app")
    assert {path.name for path in generated.iterdir() if path.suffix in (".o", ".d")} == set()

    assert this.make() == []
    assert this.try_to_make("-q")[0] == 0
    for changed in ("doorbell.ld", "doorbell_copy_table.ld", "usmp.mk"):
        touch(generated / changed)
        assert this.make("-j4") == ["app"], changed
    touch(generated / "odd_even_constants.h")
    assert this.make("-j4") == ["app", "doorbell_pools.o", "odd_even.o"]
    touch(generated / "usmp.h")
    assert this.make("-j4") == sorted(["app", "main.o", *OBJECTS])
    touch(generated / "plan.json")
    assert this.make() == []


def test_a_model_that_went_takes_its_files_along(home: Path) -> None:
    """A header that is no more stops no build; what is no longer linked is linked out."""
    this = Makefile.write(two_models(home / "project"), MAKEFILE)
    this.make("-j4")
    shutil.rmtree(this.folder / "generated")
    manifest = home / "usmp.toml"
    manifest.write_text('[project]\nname = "doorbell"\n', encoding="utf-8")
    generate(manifest, this.folder / "generated", digits="digits")
    for path in (this.folder / "generated").iterdir():
        touch(path)
    (this.folder / "main.c").write_text('#include "digits.h"\nint main(void) { return digits_run(); }\n')
    touch(this.folder / "main.c")
    assert this.make("-j4") == ["app", "digits.o", "doorbell_kernels.o", "doorbell_pools.o", "main.o"]


def test_from_another_folder_with_objects_elsewhere(home: Path) -> None:
    two_models(home / "project" / "third_party")
    text = MAKEFILE.replace("include generated", "DOORBELL_BUILD = ../out/objects\ninclude ../third_party/generated")
    (home / "project" / "app").mkdir()
    shutil.copyfile(home / "project" / "third_party" / "main.c", home / "project" / "app" / "main.c")
    (home / "project" / "app" / "Makefile").write_text(text)
    env = without_python(home.parent / "bin", "make")
    this = Makefile(home / "project" / "app", env)
    assert this.make("-j4") == sorted(["app", "main.o", *OBJECTS])
    assert {path.name for path in (home / "project" / "out" / "objects").glob("*.o")} == set(OBJECTS)
    check_answers(this.folder / "app")
    assert this.make() == []
    assert this.make("-j4", "DOORBELL_BUILD=there") == ["app", *OBJECTS]
    assert {path.name for path in (this.folder / "there").glob("*.o")} == set(OBJECTS)


def test_beside_the_makefile(home: Path) -> None:
    this = Makefile.write(two_models(home / "project"), "")
    shutil.copyfile(this.folder / "main.c", this.folder / "generated" / "main.c")
    inside = Makefile(this.folder / "generated", this.env)
    (inside.folder / "Makefile").write_text(MAKEFILE.replace("generated/", ""))
    assert inside.make("-j4") == sorted(["app", "main.o", *OBJECTS])
    assert inside.make() == []


def test_two_projects_in_one_makefile(home: Path) -> None:
    this = Makefile.write(two_projects(home / "project"), TWO)
    assert len(this.make("-j4")) == 8
    check_answers(this.folder / "app")
    assert {path.name for path in (this.folder / "build").iterdir()} == {"left", "right"}
    touch(this.folder / "right" / "right.ld")
    assert this.make() == ["app"]


def test_included_twice_and_by_makes_within_make(home: Path) -> None:
    """No rule stands twice, and what a Make above exports is not taken for an include."""
    include = "include generated/usmp.mk\n"
    this = Makefile.write(
        two_models(home / "project"), f"export\n{include}{include}inner:\n\t$(MAKE) -f inner.mk app\n"
    )
    (this.folder / "inner.mk").write_text(MAKEFILE)
    assert this.make() == sorted(["app", "main.o", *OBJECTS])
    assert this.make() == []


@pytest.mark.parametrize("set_to", ["generated", "./generated", "$(CURDIR)/generated"])
def test_the_folder_in_the_variable_that_it_is_in_afterwards(tmp_path: Path, set_to: str) -> None:
    """In the makefile or on the command line; included twice, too."""
    include = "include $(DOORBELL_DIR)/usmp.mk\n"
    text = MAKEFILE.replace("include generated/usmp.mk\n", include * 2)
    this = Makefile.write(two_models(tmp_path / "home" / "project"), f"DOORBELL_DIR := {set_to}\n{text}")
    assert this.make("-j4") == sorted(["app", "main.o", *OBJECTS])
    assert this.make() == []
    (this.folder / "Makefile").write_text(text)
    touch(this.folder / "generated" / "digits.c")
    assert this.make(f"DOORBELL_DIR={set_to.replace('$(CURDIR)', str(this.folder))}") == ["app", "digits.o"]


def test_the_default_goal_is_the_users(home: Path) -> None:
    this = Makefile.write(two_models(home / "project"), "mine:\n\t@echo mine\ninclude generated/usmp.mk\n", "echo")
    assert this.try_to_make() == (0, "mine\n")
    (this.folder / "Makefile").write_text("include generated/usmp.mk\nlast:\n\t@echo last\n")
    assert this.try_to_make() == (0, "last\n")


def test_a_make_that_warns_of_everything(home: Path) -> None:
    flags = "CPPFLAGS :=\nCFLAGS := -std=c99 -Wall -Wextra -Werror\nLDFLAGS :=\n"
    this = Makefile.write(
        two_models(home / "project"), f"CC := gcc\n{flags}{MAKEFILE}main.o:\n\t$(CC) $(CPPFLAGS) -c main.c\n"
    )
    assert "app" in this.make("-rR", "--warn-undefined-variables", "-j4")


def test_pools_are_variables(home: Path) -> None:
    text = "all:\n\t@echo $(DOORBELL_SRAM_SIZE) $(DOORBELL_FLASH_SECTION) $(DOORBELL_MODELS)\n"
    this = Makefile.write(two_models(home / "project"), f"include generated/usmp.mk\n{text}", "echo")
    assert this.try_to_make() == (0, "1543 .usmp.doorbell.flash digits odd_even\n")


def test_floating_point_needs_no_further_library(home: Path) -> None:
    (home / "project").mkdir(parents=True)
    manifest = home / "usmp.toml"
    manifest.write_text('[project]\nname = "doorbell"\n', encoding="utf-8")
    generate(manifest, home / "project" / "generated", float_net="float_net")
    this = Makefile.write(home / "project", MAKEFILE)
    (this.folder / "main.c").write_text(
        '#include "float_net.h"\nint main(void) { return float_net_run() != USMP_OK; }\n'
    )
    this.make("-j4")
    assert run(["./app"], this.folder, this.env).code == 0


def test_a_firmware_has_its_pools_where_they_are_planned(home: Path) -> None:
    this = Makefile.write(bare_metal(home / "project"), FIRMWARE, *ARM)
    assert this.make("-j4") == ["bare_kernels.o", "bare_pools.o", "digits.o", "firmware", "main.o"]
    check(this.folder / "generated", this.folder / "firmware")
    assert this.make() == []
    fragment = this.folder / "generated" / "bare.ld"
    edit(fragment, "> TCM", "> RAM")
    touch(fragment)
    assert this.make() == ["firmware"]


def test_names_of_manifests_run_nothing(home: Path) -> None:
    """A manifest may be called anything; build files have its name in comments, on one line."""
    (home / "project").mkdir(parents=True)
    manifest = home / '$(shell touch pwned)\n$(shell touch pwned)"""${pwned}]]'
    manifest.write_text('[project]\nname = "doorbell"\n', encoding="utf-8")
    generated = generate(manifest, home / "project" / "generated", digits="digits")
    this = Makefile.write(home / "project", MAKEFILE)
    (this.folder / "main.c").write_text('#include "digits.h"\nint main(void) { return digits_run() != USMP_OK; }\n')
    this.make("-j4")
    assert not (this.folder / "pwned").exists()
    shown = "$(shell touch pwned)?$(shell touch pwned)'''${pwned}]].  Do not edit."
    for name in ("BUILD.bazel", "CMakeLists.txt", "usmp-targets.cmake", "usmp.mk", "usmp.bzl"):
        (line,) = (line for line in (generated / name).read_text().split("\n") if "pwned" in line)
        begin = "" if name == "usmp.bzl" else "# "
        assert line == f"{begin}Generated by usmp_build {usmp_build.__version__} from {shown}"
