"""docs/rows.md: its manifest makes the schedule and the C that it shows, and kws uses the places that it names."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.cli import call
from tests.support.page_files import generated, give_models, give_real_models
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT

NAMED = '[project]\nname = "doorbell"\n'
MODEL = '[models.{0}]\npath = "models/{0}.tflite"\n'


@runs("docs/rows.md")
def test_layers_run_row_by_row(page: Page, shell: Shell, clone: Path) -> None:
    for folder in (shell.folder, clone):
        give_models(folder, digits="digits")
    off = generated(shell.folder, NAMED + page.take("toml").text + MODEL.format("digits"))
    assert "digits_jobs" not in (off / "digits.c").read_text("utf-8")
    out = generated(shell.folder, NAMED + MODEL.format("digits"))
    shell.at(clone).run(page.take("sh"))
    written = (out / "digits.c").read_text("utf-8")
    assert page.take("c").text in written
    assert page.take("c").text in written
    shell.run(page.take("console"))


def test_rows_of_kws_are_in_the_places_that_the_page_names(tmp_path: Path, real_models: Path) -> None:
    text = (ROOT / "docs" / "rows.md").read_text("utf-8")
    give_real_models(tmp_path, real_models, "kws")
    out = generated(tmp_path, f"{NAMED}{MODEL.format('kws')}")
    explained = call("explain", "kws.activation/Relu", tmp_path / "usmp.toml").out
    assert "".join(explained.splitlines(keepends=True)[:5]) in text
    tables = (out / "kws.c").read_text("utf-8")
    shown = re.findall(r"(?m)^(kws_t\d+_rows) +(.*), \.\.\.$", text)
    assert len(shown) == 3
    for name, places in shown:
        table = re.search(rf"{name}\[25\] = {{ /\* .* in units of 2 \*/\n([^}}]*)\n}};", tables)
        assert table is not None, name
        assert " ".join(table[1].split()).startswith(f"{places}, "), name
