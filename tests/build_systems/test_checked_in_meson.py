"""Meson: checked-in folders build without Python packages of ours, and rebuild what they must."""

from pathlib import Path

import pytest

from tests.support.checked_in import bare_metal, check, two_models, two_projects
from tests.support.cmake import steps
from tests.support.files import touch
from tests.support.models import check_answers
from tests.support.processes import environment, output
from tests.support.tools import need

APP = """\
project('app', 'c', default_options: ['c_std=c99', 'warning_level=3', 'werror=true'])
subdir('generated')
executable('app', 'main.c', dependencies: [digits_usmp, odd_even_usmp], link_depends: doorbell_usmp_link_depends)
"""
TWO = """\
project('app', 'c')
subdir('left')
subdir('right')
executable('app', 'main.c', dependencies: [digits_usmp, odd_even_usmp])
"""
FIRMWARE = """\
project('firmware', 'c')
subdir('generated')
executable(
  'app',
  'main.c',
  dependencies: digits_usmp,
  link_args: ['-nostdlib', '-T', meson.current_source_dir() / 'link.ld'],
  link_depends: bare_usmp_link_depends,
)
"""
CROSS = """\
[binaries]
c = 'arm-none-eabi-gcc'
ar = 'arm-none-eabi-ar'
[built-in options]
c_args = ['-mcpu=cortex-m33', '-mthumb', '-ffreestanding']
c_link_args = ['-mcpu=cortex-m33', '-mthumb', '-nostdlib']
[host_machine]
system = 'none'
cpu_family = 'arm'
cpu = 'cortex-m33'
endian = 'little'
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where projects are."""
    need("meson", "ninja", "cc")
    return tmp_path / "a b"


def configure(folder: Path, text: str, *options: str) -> Path:
    """Write the project's build file, and configure it; return the build folder."""
    (folder / "meson.build").write_text(text, encoding="utf-8")
    output(["meson", "setup", "build", *options], folder, environment("PYTHON"))
    return folder / "build"


def build(folder: Path) -> list[str]:
    """Build; return what was done: `compile digits.c`, `link app`."""
    return steps(output(["ninja", "-C", folder], env=environment("PYTHON")).replace("Linking target", LINK))


LINK = "Linking C executable"


def test_a_folder_builds_and_rebuilds_right(home: Path) -> None:
    folder = configure(two_models(home / "project"), APP)
    build(folder)
    check_answers(folder / "app")
    assert build(folder) == []
    for name in ("doorbell.ld", "doorbell_copy_table.ld"):
        touch(home / "project" / "generated" / name)
        assert build(folder) == ["link app"]
    touch(home / "project" / "generated" / "odd_even.h")
    done = build(folder)
    assert "link app" in done
    assert not [step for step in done if "digits" in step]


def test_two_projects_in_one_build(home: Path) -> None:
    folder = configure(two_projects(home / "project"), TWO)
    build(folder)
    check_answers(folder / "app")


def test_a_firmware_has_its_pools_where_they_are_planned(home: Path) -> None:
    need("arm-none-eabi-gcc")
    project = bare_metal(home / "project")
    (project / "board.ini").write_text(CROSS, encoding="utf-8")
    folder = configure(project, FIRMWARE, "--cross-file", "board.ini")
    build(folder)
    check(project / "generated", folder / "app")
