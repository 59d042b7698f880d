"""README.md: CI types its two commands; its quick start plans as shown, and makes a firmware that runs."""

from pathlib import Path

from tests.support.ci import commands, installing
from tests.support.doorbell import check_answers
from tests.support.files import edit
from tests.support.firmware import BOARDS, need_board
from tests.support.shell import Shell
from tests.support.snippets import Page, runs

END_OF_BSS = "__bss_end = .;\n    } > RAM\n"


@runs("README.md#two-commands")
def test_the_two_commands_are_what_ci_does(page: Page) -> None:
    """They need the network, so they are not typed here."""
    text = page.take("sh").text
    assert commands(text) == installing()
    assert [command.rpartition(" && ")[2] for command in text.splitlines()] == [
        ".venv/bin/usmp-build demo",
        ".venv/bin/pytest -q -n auto --dist loadgroup",
    ]


@runs("README.md#quick-start")
def test_the_quick_start_is_what_happens(page: Page, shell: Shell, clone: Path) -> None:
    need_board(BOARDS["m4"])
    shell.at(clone).run(page.take("sh"))
    folder = clone.parent / "doorbell"
    reader = shell.at(folder)
    (folder / "usmp.toml").write_text(page.take("toml").text, encoding="utf-8")

    edit(folder / "mps2.ld", END_OF_BSS, f"{END_OF_BSS}INCLUDE doorbell.ld\n")
    with (folder / "CMakeLists.txt").open("a", encoding="utf-8") as lists:
        lists.write(page.take("cmake").text)
    edit(folder / "main.c", '#include "camera.h"\n', '#include "camera.h"\n#include "digits.h"\n')
    edit(folder / "main.c", "show(pixels);\n", f"show(pixels);\n{page.take('c').text}")
    check_answers(reader.run(page.take("sh")))

    declarations = page.take("c").text.splitlines()
    assert len(declarations) >= 8
    header = (folder / "build" / "m4" / "plan.usmp" / "digits.h").read_text("utf-8").splitlines()
    assert [line for line in header if line in declarations] == declarations

    reader.run(page.take("console"))


def test_the_quick_start_adds_twelve_lines_at_most() -> None:
    page = Page("README.md#quick-start")
    page.take("sh")
    manifest, lists = page.take("toml").text, page.take("cmake").text
    assert len((manifest + lists).splitlines()) + len(["INCLUDE doorbell.ld"]) <= 12
    assert "add_usmp_model(" in lists
