"""plan.json: the plan for other programs."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.layout.layout import Layout
from usmp_build.layout.plan_json import plan_json
from usmp_build.output.bundle import OutputFile


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield plan.json."""
    yield OutputFile("plan.json", plan_json(layout.summary))
