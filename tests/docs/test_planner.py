"""docs/planner.md: its files are written, its commands say what it says, its Python is true."""

import shutil

from tests.support.page_files import python
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT


@runs("docs/planner.md")
def test_problems_are_solved_as_shown(page: Page, shell: Shell) -> None:
    for name in ("doorbell.csv", "camera.csv"):
        (shell.folder / name).write_text(page.take("csv").text, encoding="utf-8")
        shell.run(page.take("console"))
    (shell.folder / "camera.json").write_text(page.take("json").text, encoding="utf-8")
    assert shell.output("usmp-build solve camera.json") == shell.output("usmp-build solve camera.csv")
    shutil.copy(ROOT / "tests" / "data" / "digits.tflite", shell.folder)
    shell.run(page.take("sh"))
    names = python(page.take("python"))
    python(page.take("python"), names)
