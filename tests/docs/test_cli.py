"""docs/cli.md: a message looks as it is shown."""

from __future__ import annotations

import shutil

from tests.conftest import ROOT
from tests.support.shell import Shell
from tests.support.snippets import Page, runs


@runs("docs/cli.md")
def test_a_pool_that_is_not_there(page: Page, shell: Shell) -> None:
    shutil.copyfile(ROOT / "tests" / "errors" / "undefined_pool" / "usmp.toml", shell.folder / "usmp.toml")
    shell.run(page.take("console"))
