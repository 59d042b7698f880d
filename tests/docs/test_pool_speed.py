"""docs/pool-speed.md: what placement in its pools costs."""

from pathlib import Path

from tests.support.doorbell import MODELS
from tests.support.page_files import give_real_models
from tests.support.shell import Shell
from tests.support.snippets import Page, runs

PROJECT = '[project]\nname = "p"\n'


@runs("docs/pool-speed.md")
def test_cost_in_pools_of_different_speed(page: Page, shell: Shell, real_models: Path) -> None:
    give_real_models(shell.folder, real_models, "kws", "vww")
    (shell.folder / "usmp.toml").write_text(
        page.take("toml").text + PROJECT + MODELS + "[plan]\nrows = false\n", encoding="utf-8"
    )
    shell.run(page.take("console"))
