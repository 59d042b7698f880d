"""The linker fragment: one output section for each pool, to `INCLUDE` in the SECTIONS of the user's own script."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.bundle import OutputFile
from usmp_build.emitters.render import render
from usmp_build.layout import Layout


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield the fragment."""
    yield OutputFile(f"{layout.summary.project}.ld", render("plan.ld.j2", summary=layout.summary))
