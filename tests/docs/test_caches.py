"""docs/caches.md: C of its manifest has the lines that it shows, and the application's C is right for that."""

from pathlib import Path

from tests.support.host_c import built
from tests.support.page_files import generated, give_real_models
from tests.support.snippets import Page, runs

DMA = """
#include "kws.h"

static void SCB_InvalidateDCache_by_Addr(void *start, int32_t bytes) { (void)start, (void)bytes; }
static void SCB_CleanDCache_by_Addr(void *start, int32_t bytes) { (void)start, (void)bytes; }
static void start_dma_to(void *start, int32_t bytes) { (void)start, (void)bytes; }
static void start_dma_from(const void *start, int32_t bytes) { (void)start, (void)bytes; }
static void wait_for_dma(void) {}

int main(void)
{
    SNIPPET
    struct kws_outputs out = kws_map_outputs();
    SNIPPET
    return 0;
}
"""


@runs("docs/caches.md")
def test_lines_of_the_cache(page: Page, tmp_path: Path, real_models: Path) -> None:
    give_real_models(tmp_path, real_models, "kws")
    out = generated(tmp_path, f'{page.take("toml").text}[project]\nname = "doorbell"\n')
    for line in page.take("c").text.splitlines(keepends=True):
        assert line in (out / "kws.h").read_text("utf-8")
    incoming, outgoing = page.take("c"), page.take("c")
    built(out, tmp_path, outgoing.within(incoming.within(DMA)), "cc", "-O0")
