"""`usmp-targets.cmake` and a `CMakeLists.txt` that includes it: build the files, beside which they stand."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.emitters.render import render
from usmp_build.installation import cmake_dir
from usmp_build.layout.layout import Layout
from usmp_build.output.bundle import OutputFile

_FUNCTIONS = ("UsmpLinkPools.cmake", "UsmpOptions.cmake", "integrations/zephyr.cmake")
"""What checked-in plans need of our CMake files."""


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield the files."""
    summary = layout.summary
    regions = dict.fromkeys(pool.region for pool in summary.pools if pool.region and not pool.is_passed)
    yield OutputFile("CMakeLists.txt", render("CMakeLists.txt.j2", summary=summary))
    functions = [(cmake_dir() / name).read_text(encoding="utf-8").rstrip() for name in _FUNCTIONS]
    facts = {"math": layout.needs_math, "regions": list(regions), "functions": functions, "links": layout.links}
    yield OutputFile("usmp-targets.cmake", render("usmp-targets.cmake.j2", summary=summary, **facts))
