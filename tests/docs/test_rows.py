"""docs/rows.md: its manifest makes the schedule and the C that it shows, and kws uses the places that it names."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.cli import call
from tests.support.host_c import built
from tests.support.page_files import generated, give_models, give_real_models
from tests.support.pictures import picture_to_picture
from tests.support.processes import output
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
    fed = shell.folder / "fed"
    fed.mkdir()
    give_models(fed, vww="digits")
    rows = "[plan]\nrows = true\n"
    out = generated(fed, NAMED + rows + page.take("toml").text)
    program = built(out, fed, page.take("c").within(FED))
    assert output([program]) == "8 rows, then scores\n"
    (fed / "models" / "vww.tflite").write_bytes(picture_to_picture())
    masked = 'names = { t13 = "mask" }\noutputs = "rows"\n'
    out = generated(fed, f"{NAMED}{MODEL.format('vww')}{masked}{rows}")
    built(out, fed, page.take("c").within(MASKED))


FED = """
#include <stdio.h>
#include "vww.h"

static int lines;

static void read_line(int8_t *to, size_t size)
{
    while (size-- > 0) {
        *to++ = 0;
    }
    ++lines;
}

static void act_on(const int8_t *scores)
{
    printf("%d rows, then %s\\n", lines, scores ? "scores" : "nothing");
}

int main(void)
{
SNIPPET
    return 0;
}
"""

MASKED = """
#include "vww.h"

static void write_line(void *screen, int32_t row, const int8_t *data, size_t size)
{
    (void)screen, (void)row, (void)data, (void)size;
}

SNIPPET

int main(void)
{
    return vww_run(&sink);
}
"""


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
