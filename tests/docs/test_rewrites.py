"""docs/rewrites.md: what it shows of the digits' model is what the tool says."""

from __future__ import annotations

from tests.support.cli import manifest, one_model
from tests.support.shell import Shell
from tests.support.snippets import Page, runs


@runs("docs/rewrites.md#what-they-remove")
def test_what_rewrites_remove(page: Page, shell: Shell) -> None:
    manifest(shell.folder, one_model("digits"))
    shell.run(page.take("console"))
