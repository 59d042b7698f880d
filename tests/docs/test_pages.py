"""docs/pages.md: C of its manifest has the table of rows that it shows, and its example is planned so."""

from __future__ import annotations

from pathlib import Path

from tests.support.page_files import generated, give_models
from tests.support.shell import Shell
from tests.support.snippets import Page, runs

MANIFEST = """
[project]
name = "strips"
[pools.sram]
access = "rw"
{pool}
[models.pages]
path = "models/pages.tflite"
order = "file"
{place}
"""


@runs("docs/pages.md")
def test_rows_of_tensors(page: Page, shell: Shell, checkout: Path) -> None:
    give_models(shell.folder, pages="pages")
    pool = page.take("toml").text
    shell.at(checkout).run(page.take("console"))
    out = generated(shell.folder, MANIFEST.format(pool=pool, place=page.take("toml").text))
    assert page.take("c").text in (out / "pages.c").read_text("utf-8")
