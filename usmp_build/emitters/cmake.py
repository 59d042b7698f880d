"""`usmp-targets.cmake` and a `CMakeLists.txt` that includes it: build the files, beside which they stand."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.emitters.render import render
from usmp_build.installation import cmake_dir
from usmp_build.layout import Layout
from usmp_build.output.bundle import OutputFile


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield the files."""
    summary = layout.summary
    regions = dict.fromkeys(pool.region for pool in summary.pools if pool.region and not pool.is_passed)
    yield OutputFile("CMakeLists.txt", render("CMakeLists.txt.j2", summary=summary))
    link_pools = (cmake_dir() / "UsmpLinkPools.cmake").read_text(encoding="utf-8").rstrip()
    facts = {"math": layout.needs_math, "regions": list(regions), "link_pools": link_pools, "links": layout.links}
    yield OutputFile("usmp-targets.cmake", render("usmp-targets.cmake.j2", summary=summary, **facts))
