"""What verbs that take a manifest have in common."""

from __future__ import annotations

import argparse
from pathlib import Path

from usmp_build import pipeline
from usmp_build.errors import Diagnostic, UsageError
from usmp_build.files import DiskFiles
from usmp_build.request import Request


def manifest_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the manifest and which of its models are meant."""
    parser.add_argument("manifest", nargs="?", default="usmp.toml", help="the manifest (default: usmp.toml)")
    parser.add_argument(
        "--model",
        action="append",
        metavar="NAME[=FILE]",
        help="plan exactly the models named so, each with the given file where there is one; else all of the manifest",
    )


def read_request(parsed: argparse.Namespace) -> tuple[Request, DiskFiles]:
    """Read the manifest that the command line names; model files stand relative to it."""
    path = Path(parsed.manifest)
    files = DiskFiles(path.parent)
    only: list[str] | None = None
    paths: dict[str, str] = {}
    for item in parsed.model or ():
        name, _, file = item.partition("=")
        only = [*(only or []), name]
        if file:
            paths[name] = str(Path(file).resolve())
    if only and len(set(only)) < len(only):
        raise UsageError(Diagnostic("U201", "--model names a model twice", help="name each model once"))
    return pipeline.read(path.name, files, shown=parsed.manifest, only=only, paths=paths), files
