"""Every example is built, tested and run as its README says, in presets of CMake or by the tool that it is about."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support import firmware
from tests.support.cmake import EVERY_CMAKE, need_cmake
from tests.support.firmware import BOARDS
from tests.support.host_c import STRICT
from tests.support.processes import output
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT

EXAMPLES = ROOT / "examples"
WITH_PRESETS = sorted(path.parent.name for path in EXAMPLES.glob("*/CMakeLists.txt"))
OTHERS = ["regions"]
"""Those that are no CMake projects of their own."""
BAZEL = ["bazel"]
"""What tests/build_systems/test_bazel.py builds and runs."""
BOARD = {"firmware": "m55", "quick_start": "m4", "regions": "m7", "rows": "m4"}
"""The board that a README names; the others are for this computer."""


@runs(*(f"examples/{name}/README.md" for name in (*WITH_PRESETS, *OTHERS)))
def test_it_does_what_its_readme_says(page: Page, shell: Shell, clone: Path) -> None:
    shown = page.rest()
    folder = (clone / shown[0].page).parent
    if board := BOARD.get(folder.name):
        firmware.need_board(BOARDS[board])
    else:
        need_cmake()
    shell = replace(shell.at(folder), env={**shell.env, "CFLAGS": STRICT})
    printed = "".join(shell.run(page.take(snippet.language)) for snippet in shown)
    if folder.name in WITH_PRESETS:
        assert re.search("100% tests passed, 0 tests failed out of [1-9]", printed), printed


@runs("examples/README.md")
def test_all_are_built_alike(page: Page) -> None:
    commands = page.take("sh").text
    hosts = [name for name in WITH_PRESETS if name not in BOARD]
    assert all(f"```sh\n{commands}```\n" in (EXAMPLES / name / "README.md").read_text("utf-8") for name in hosts)


def test_none_is_forgotten() -> None:
    assert sorted([*WITH_PRESETS, *OTHERS, *BAZEL]) == sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())


@pytest.mark.parametrize("name", WITH_PRESETS)
def test_it_has_presets_to_configure_build_and_test(name: str) -> None:
    presets = json.loads((EXAMPLES / name / "CMakePresets.json").read_text("utf-8"))
    assert presets["version"] == 3
    assert presets["cmakeMinimumRequired"] == {"major": 3, "minor": 22, "patch": 0}
    kinds = [visible(presets[f"{kind}Presets"]) for kind in ("configure", "build", "test")]
    assert kinds[0] == kinds[1] == kinds[2] != []
    commands = (EXAMPLES / name / "README.md").read_text("utf-8")
    for command in ("cmake --preset", "cmake --build --preset", "ctest --preset"):
        assert f"\n{command} {BOARD.get(name, 'host')}" in commands


def test_those_for_this_computer_have_the_same_presets() -> None:
    hosts = [EXAMPLES / name / "CMakePresets.json" for name in WITH_PRESETS if name not in BOARD]
    assert len({presets.read_bytes() for presets in hosts}) == 1


@EVERY_CMAKE
def test_every_cmake_reads_the_presets(cmake: str) -> None:
    need_cmake(cmake=cmake)
    for name in WITH_PRESETS:
        listed = output([cmake, "--list-presets=all"], EXAMPLES / name)
        assert listed.count(f'"{BOARD.get(name, "host")}"') == 3


def visible(presets: list[dict[str, Any]]) -> list[str]:
    return sorted(preset["name"] for preset in presets if not preset.get("hidden"))
