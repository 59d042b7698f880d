"""`library.json` and `library.properties`: the folder is a library of PlatformIO and of Arduino."""

from __future__ import annotations

import json
from collections.abc import Iterator

from usmp_build.emitters.render import render
from usmp_build.layout.layout import Layout
from usmp_build.naming import hash_comment, model_files, plan_files
from usmp_build.output.bundle import GENERATED_BY, OutputFile


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield the files."""
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
