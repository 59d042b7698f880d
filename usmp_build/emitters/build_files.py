"""Files for build systems: each builds the others of its folder, beside which it stands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from usmp_build.emitters.render import render
from usmp_build.installation import cmake_dir
from usmp_build.layout.layout import Layout
from usmp_build.naming import hash_comment, model_files, plan_files, pool_bytes_files
from usmp_build.output.bundle import GENERATED_BY, OutputFile


def bazel(layout: Layout) -> Iterator[OutputFile]:
    """Yield `BUILD.bazel`, and `usmp.bzl` which it loads."""
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


_FUNCTIONS = ("UsmpLinkPools.cmake", "UsmpOptions.cmake", "integrations/zephyr.cmake")
"""What checked-in plans need of our CMake files."""


def cmake(layout: Layout) -> Iterator[OutputFile]:
    """Yield `usmp-targets.cmake`, and a `CMakeLists.txt` that includes it."""
    summary = layout.summary
    regions = dict.fromkeys(pool.region for pool in summary.pools if pool.region and not pool.is_passed)
    yield OutputFile("CMakeLists.txt", render("CMakeLists.txt.j2", summary=summary))
    functions = [(cmake_dir() / name).read_text(encoding="utf-8").rstrip() for name in _FUNCTIONS]
    facts = {"math": layout.needs_math, "regions": list(regions), "functions": functions, "links": layout.links}
    yield OutputFile("usmp-targets.cmake", render("usmp-targets.cmake.j2", summary=summary, **facts))


def libraries(layout: Layout) -> Iterator[OutputFile]:
    """Yield `library.json` and `library.properties`: the folder is a library of PlatformIO and of Arduino."""
    summary = layout.summary
    models = [model.name for model in summary.models]
    files = sorted([*plan_files(summary.project), *(file for model in models for file in model_files(model))])
    manifest = hash_comment(summary.manifest)
    library = {
        "name": summary.project,
        "version": summary.tool_version,
        "description": f"{GENERATED_BY} {summary.tool_version} from {manifest}.  Do not edit.",
        "headers": [f"{model}.h" for model in models],
        "build": {
            "flags": ["-L.", *["-lm"] * layout.needs_math],  # PlatformIO gives them to the link of the application
            "srcFilter": ["-<*>", *(f"+<{file}>" for file in files if file.endswith(".c"))],
        },
    }
    yield OutputFile("library.json", json.dumps(library, indent=2) + "\n")
    yield OutputFile("library.properties", render("library.properties.j2", summary=summary))


def make(layout: Layout) -> Iterator[OutputFile]:
    """Yield `usmp.mk`: rules of GNU Make."""
    yield OutputFile("usmp.mk", render("usmp.mk.j2", summary=layout.summary, math=layout.needs_math))


def meson(layout: Layout) -> Iterator[OutputFile]:
    """Yield `meson.build`: dependencies of Meson."""
    yield OutputFile("meson.build", render("meson.build.j2", summary=layout.summary, math=layout.needs_math))
