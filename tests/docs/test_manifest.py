"""docs/manifest.md: the smallest manifest is planned; of the full one, only what comes later is refused."""

from pathlib import Path

from tests.support.page_files import generated, give_models
from tests.support.snippets import Page, runs
from usmp_build.manifest import load, resolve


@runs("docs/manifest.md")
def test_both_examples(page: Page, tmp_path: Path) -> None:
    give_models(tmp_path, kws="digits")
    generated(tmp_path, page.take("toml").text)

    every_key = page.take("toml").text
    assert [model.name for model in resolve(load(every_key.encode(), "usmp.toml")).models] == ["kws", "sleep", "vad"]
