"""docs/quick-start.md, taken literally: a firmware without models gets one, and answers as TensorFlow Lite Micro."""

import re
import shutil
from pathlib import Path

import pytest

from tests.support.doorbell import check_answers
from tests.support.environments import Environment, lent
from tests.support.files import edit
from tests.support.firmware import BOARDS, need_board
from tests.support.planned import Shared
from tests.support.processes import environment
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tools import need_packages
from tests.support.tree import ROOT

PAGE = "docs/quick-start.md"
TEXT = (ROOT / PAGE).read_text("utf-8")
LAST = Page(f"{PAGE}#6-build-and-run").take("sh").text
"""What builds and runs the firmware, for the M4."""


@runs(PAGE)
def test_who_does_what_the_page_says_gets_the_answers(page: Page, checkout: Path, tmp_path: Path) -> None:
    need_board(BOARDS["m4"])
    firmware, printed = follow(page, beside(tmp_path, checkout))
    check_answers(printed)

    shutil.rmtree(firmware.folder / "build")  # leaving the linker script alone
    edit(firmware.folder / "usmp.toml", 'region = "RAM"\n', page.take("toml").text)
    edit(firmware.folder / "CMakeLists.txt", "usmp_link_pools(app plan)\n", "")
    edit(firmware.folder / "mps2.ld", "INCLUDE doorbell.ld", "")
    check_answers(firmware.output(LAST))


def follow(page: Page, beside: Shell) -> tuple[Shell, str]:
    """Do the six steps; return a shell in the folder of the firmware, and what that printed."""
    beside.run(page.take("sh"))
    here = beside.at(beside.folder / "firmware")
    here.run(page.take("sh"))
    here.run(page.take("sh"))
    for file, language in {"usmp.toml": "toml", "CMakeLists.txt": "cmake", "mps2.ld": "ld", "main.c": "c"}.items():
        path = here.folder / file
        text = page.take(language).text
        path.write_text(added(path.read_text("utf-8"), text) if path.exists() else text, encoding="utf-8")
    printed = here.run(page.take("sh"))
    shown = [f"1: {line}" for line in page.take("text").text.splitlines()]
    assert [line for line in printed.splitlines() if line in shown] == shown, printed
    return here, printed


def added(text: str, snippet: str) -> str:
    """Return a text with the new lines of a snippet, each below the line that it follows there."""
    lines, at, is_anywhere = text.splitlines(), 0, True
    for line in snippet.splitlines():
        if line.strip() == "...":
            is_anywhere = True
        elif is_anywhere:
            at, is_anywhere = lines.index(line, at) + 1, False
        else:
            if lines[at : at + 1] != [line]:
                lines.insert(at, line)
            at += 1
    return "\n".join(lines) + "\n"


def beside(folder: Path, checkout: Path) -> Shell:
    """A shell beside the source tree, outside of any virtual environment, and without network.

    There pip installs our package, and nothing else: what that and its build need is lent by the tests' environment.
    """
    need_packages("scikit_build_core")
    (folder / "usmp_build").symlink_to(checkout)
    lent(folder / "others")
    return shell_in(folder, folder / "others")


def shell_in(folder: Path, others: Path) -> Shell:
    """Such a shell in any folder; `others` is the environment that lends."""
    # Pip takes the last one as the value of build isolation, in spite of its name.
    pip = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    path = {"PYTHONPATH": str(Environment(others).packages)}
    return Shell(folder, environment("PIP_", "VIRTUAL_ENV") | pip | path)


@pytest.fixture
def again(shared: Shared, checkout: Path, tmp_path: Path) -> Shell:
    """A shell in a copy of the firmware of somebody who did the six steps, not yet built."""
    need_board(BOARDS["m4"])
    done = shared("quick_start", lambda folder: follow(Page(PAGE), beside(folder, checkout))[0].folder)
    copy = tmp_path / "firmware"
    shutil.copytree(done, copy, ignore=shutil.ignore_patterns("build", ".venv"))
    (copy / ".venv").symlink_to(done / ".venv")
    return shell_in(copy, done.parent / "others")


def test_the_other_board_answers_alike(again: Shell) -> None:
    check_answers(again.output(LAST.replace("m4", "m7")))


def test_no_more_than_four_statements_follow_find_package() -> None:
    lines = Page(f"{PAGE}#3-tell-cmake").take("cmake").text
    known, call, ours = lines.partition("find_package(usmp_build CONFIG REQUIRED)")
    assert call
    assert known.strip() in (ROOT / "examples" / "quick_start" / "CMakeLists.txt").read_text("utf-8")
    assert 1 <= len(re.findall(r"(?m)^ *\w+ *\(", ours)) <= 4


SECOND = "usmp_add_plan(two MANIFEST usmp.toml)\nadd_usmp_model(more PLAN two MODEL digits.tflite)\n"
LINKED = "target_link_libraries(app PRIVATE usmp::digits"
MISTAKES = [
    [("the command line", "-Dusmp_build_DIR=", "-Danother_DIR=")],
    [("CMakeLists.txt", LINKED, LINKED.removesuffix("s"))],
    [("CMakeLists.txt", f"{LINKED})", "")],
    [("mps2.ld", "INCLUDE doorbell.ld", "")],
    [("mps2.ld", "INCLUDE doorbell.ld", ""), ("CMakeLists.txt", "usmp_link_pools(app plan)", "")],
    [("mps2.ld", "*(.bss*)", "*(.bss*) *(.usmp*)")],
    [("mps2.ld", "INCLUDE doorbell.ld", "INCLUDE doorbell.ld\n    INCLUDE doorbell.ld")],
    [
        ("mps2.ld", "INCLUDE doorbell.ld", ""),
        ("mps2.ld", "SECTIONS\n{", "SECTIONS\n{\n    INCLUDE doorbell.ld"),
        ("usmp.toml", 'region = "RAM"', 'region = "RAM"\n[pools.flash]\naccess = "ro"\nregion = "FLASH"'),
    ],
    [("mps2.ld", "__stack_end = ORIGIN(RAM) + LENGTH(RAM)", "__stack_end = ADDR(.usmp.doorbell.sram) + 400")],
    [("mps2.ld", "INCLUDE doorbell.ld", ""), ("mps2.ld", "SECTIONS", "INCLUDE doorbell.ld\nSECTIONS")],
    [("main.c", "while (camera_take(pixels))", "while (0)")],
    [("usmp.toml", "RAM", "SRAM")],
    [("CMakeLists.txt", LINKED, f"{SECOND}{LINKED} usmp::more")],
    [("usmp.toml", "8 KiB", "512 B")],
]
"""For each row of the page's table where things go wrong, what should be there, and what is there."""


@pytest.mark.drawn("row")
@pytest.mark.parametrize("row", range(len(MISTAKES)))
def test_mistakes_are_told_as_the_page_says(again: Shell, row: int) -> None:
    messages = re.findall(r"(?m)^\| `(.*?)` \|", TEXT)
    assert len(messages) == len(MISTAKES)
    commands = LAST
    for where, right, wrong in MISTAKES[row]:
        if where == "the command line":
            commands = commands.replace(right, wrong)
        else:
            edit(again.folder / where, right, wrong)
    printed = " ".join(again.fails(commands).split())
    assert re.search(".*".join(map(re.escape, messages[row].split("..."))), printed), printed
