"""`meson.build`: dependencies of Meson for the files, beside which it stands."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.emitters.render import render
from usmp_build.layout.layout import Layout
from usmp_build.output.bundle import OutputFile


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield the file."""
    yield OutputFile("meson.build", render("meson.build.j2", summary=layout.summary, math=layout.needs_math))
