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
    only, paths = named_models(parsed)
    return pipeline.read(path.name, files, shown=parsed.manifest, only=only, paths=paths), files


def named_models(parsed: argparse.Namespace) -> tuple[list[str] | None, dict[str, str]]:
    """Return the names of --model, None when there is none, and the files given with them."""
    if not parsed.model:
        return None, {}
    pairs = [item.partition("=") for item in parsed.model]
    names = [name for name, _, _ in pairs]
    if len(set(names)) < len(names):
        raise UsageError(Diagnostic("U201", "--model names a model twice", help="name each model once"))
    return names, {name: str(Path(file).resolve()) for name, _, file in pairs if file}
