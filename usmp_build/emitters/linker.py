"""Linker fragments to `INCLUDE` in the user's own script: an output section for each pool, and what start-up copies."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.bundle import OutputFile
from usmp_build.emitters.render import render
from usmp_build.layout import Layout


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield the fragments."""
    summary = layout.summary
    yield OutputFile(f"{summary.project}.ld", render("plan.ld.j2", summary=summary))
    yield OutputFile(f"{summary.project}_copy_table.ld", render("copy_table.ld.j2", summary=summary))
