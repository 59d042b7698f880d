"""docs/firmware.md: what it says to type builds and runs, what it shows of files is in these."""

import re
import shutil
from pathlib import Path

from tests.support.ci import commands, installing, packages
from tests.support.firmware import BOARDS, need_board, rebuild
from tests.support.shell import Shell, is_excerpt
from tests.support.snippets import Page, runs


@runs("docs/firmware.md")
def test_the_page(page: Page, shell: Shell, clone: Path) -> None:
    need_board(BOARDS["m55"])
    named = set(re.findall(r" ([a-z]\S+)", page.take("sh").text.replace("apt-get install", "")))
    assert named - {"python3-venv"} <= packages()  # CI's Python brings venv
    assert commands(page.take("sh").text) <= installing()
    shell.at(clone).run(page.take("sh"))

    example = clone / "examples" / "firmware"
    script = (example / "boards" / "sections.ld").read_text("utf-8")
    assert is_excerpt(page.take("ld"), script)
    assert is_excerpt(page.take("ld"), script)
    assert is_excerpt(page.take("c"), (example / "platform" / "start.c").read_text("utf-8"))
    assert is_excerpt(page.take("c"), (example / "platform" / "regions.c").read_text("utf-8"))

    mine = shutil.copytree(example, example.with_name("mine"), ignore=shutil.ignore_patterns("build"))
    for name in ("usmp.toml", "main.c"):
        (mine / name).rename(mine / f"mine{Path(name).suffix}")
    shell.at(mine).run(page.take("sh"))

    zeroed = script.replace("        __zero_table_end", f"{page.take('ld').text}        __zero_table_end")
    (mine / "boards" / "sections.ld").write_text(zeroed, encoding="utf-8")
    code, text = rebuild(mine / "build" / "mine")
    assert code == 0, text
