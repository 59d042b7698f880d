"""`usmp-targets.cmake`: builds the generated files, beside which it stands, without Python."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.bundle import OutputFile
from usmp_build.emitters.render import render
from usmp_build.layout import Layout


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield the file."""
    math = "#include <math.h>" in layout.kernel_source
    yield OutputFile("usmp-targets.cmake", render("usmp-targets.cmake.j2", summary=layout.summary, math=math))
