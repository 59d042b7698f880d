"""docs/caches.md: C of its manifest has the lines that it shows, and the application's C is right for that."""

from pathlib import Path

from tests.support.host_c import built
from tests.support.page_files import generated, give_real_models
from tests.support.snippets import Page, runs
from tests.support.tree import text_file

DMA = text_file("page_caches_dma.c")


@runs("docs/caches.md")
def test_lines_of_the_cache(page: Page, tmp_path: Path, real_models: Path) -> None:
    give_real_models(tmp_path, real_models, "kws")
    out = generated(tmp_path, f'{page.take("toml").text}[project]\nname = "doorbell"\n')
    for line in page.take("c").text.splitlines(keepends=True):
        assert line in (out / "kws.h").read_text("utf-8")
    incoming, outgoing = page.take("c"), page.take("c")
    built(out, tmp_path, outgoing.within(incoming.within(DMA)), "cc", "-O0")
