"""docs/pages.md: its manifests are planned, with the rows that it shows."""

from tests.support.page_files import generated, give_models
from tests.support.shell import Shell
from tests.support.snippets import Page, runs

MANIFEST = """
[project]
name = "strips"
[pools.sram]
access = "rw"
{pool}
[models.{model}]
path = "models/{model}.tflite"
order = "file"
{place}
"""


@runs("docs/pages.md")
def test_rows_of_tensors(page: Page, shell: Shell) -> None:
    give_models(shell.folder, pages="pages", digits="digits")
    pool = page.take("toml").text
    generated(shell.folder, MANIFEST.format(pool=pool, model="pages", place=page.take("toml").text))
    going_on = MANIFEST.format(pool=pool, model="digits", place=page.take("toml").text)
    (shell.folder / "usmp.toml").write_text(going_on, encoding="utf-8")
    shell.run(page.take("console"))
