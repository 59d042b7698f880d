"""`BUILD.bazel`, and `usmp.bzl` which it loads: libraries of the files, beside which they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from usmp_build.emitters.render import render
from usmp_build.layout.layout import Layout
from usmp_build.naming import model_files, plan_files, pool_bytes_files
from usmp_build.output.bundle import OutputFile


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield the files."""
    summary = layout.summary
    pool_bytes = [pool_bytes_files(summary.project, each.pool.name) for each in layout.pool_bytes]
    binaries, included = [pair[0] for pair in pool_bytes], [pair[1] for pair in pool_bytes]
    of_plan = plan_files(summary.project)
    of_models = [file for model in summary.models for file in model_files(model.name)]
    values = {
        "exported": sorted(["plan.json", f"{summary.project}.ld", f"{summary.project}_copy_table.ld", *binaries]),
        "sources": sorted([*_ending(".c", of_plan), *_ending(".h", of_models)]),
        "headers": sorted([*_ending(".h", of_plan), *included]),
        "math": layout.needs_math,
        "links": [f"@{library.replace('-', '_')}" for library in layout.links],
    }
    yield OutputFile("BUILD.bazel", render("BUILD.bazel.j2", summary=summary, **values))
    yield OutputFile("usmp.bzl", render("usmp.bzl.j2", summary=summary))


def _ending(suffix: str, files: Iterable[str]) -> list[str]:
    return [file for file in files if file.endswith(suffix)]
