"""docs/cli.md: tables and messages look as they are shown."""

import shutil

from tests.support.cli import DATA, DIGITS, ODD_EVEN, RW, manifest, tables
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT


@runs("docs/cli.md#without-a-manifest")
def test_models_without_a_manifest(page: Page, shell: Shell) -> None:
    for name in ("digits", "odd_even"):
        shutil.copyfile(DATA / f"{name}.tflite", shell.folder / f"{name}.tflite")
    shell.run(page.take("console"))


@runs("docs/cli.md#a-generated-folder")
def test_a_generated_folder(page: Page, shell: Shell) -> None:
    manifest(shell.folder, tables("doorbell", {"sram": RW}, {"digits": DIGITS}))
    shell.run(page.take("console"))


@runs("docs/cli.md#the-table-of-plan")
def test_the_table_of_plan(page: Page, shell: Shell) -> None:
    pools = {"sram": RW + 'size = "4 KiB"\nregion = "RAM"\n'}
    manifest(shell.folder, tables("doorbell", pools, {"digits": DIGITS, "odd_even": ODD_EVEN}))
    shell.run(page.take("console"))


SPEECH = """model "speech"
subgraph 0 "main"
  %0 "image" int8[1,4,4,2] scale=0.1 zero=3
  %1 "limited" int8[1,4,4,2] scale=0.1 zero=3
  %2 "flat" int8[1,32] scale=0.1 zero=3
  %3 "secret" int8[1,32] scale=0.1 zero=3
  inputs %0
  outputs %3
  %1 = RELU(%0) @0
  %2 = RESHAPE(%1) @1
  %3 = "CUSTOM:SECRET"(%2) @2
"""


@runs("docs/cli.md#what-runs")
def test_what_runs(page: Page, shell: Shell) -> None:
    (shell.folder / "speech.model.txt").write_text(SPEECH, encoding="utf-8")
    shell.run(page.take("console"))


@runs("docs/cli.md#messages")
def test_a_pool_that_is_not_there(page: Page, shell: Shell) -> None:
    shutil.copyfile(ROOT / "tests" / "errors" / "undefined_pool" / "usmp.toml", shell.folder / "usmp.toml")
    shell.run(page.take("console"))
