"""List the files that `generate` would write, without planning: for build systems, which must know before.

Each line names an owner (the plan, then each model), a tab, and a file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from usmp_build.cli.common import manifest_arguments, named_models
from usmp_build.errors import ManifestError
from usmp_build.files import DiskFiles
from usmp_build.manifest.check import problems
from usmp_build.manifest.clashes import passed_constant_pools
from usmp_build.manifest.load import in_order, load
from usmp_build.naming import model_files, plan_files

_ANY_MODEL = "<model>"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    manifest_arguments(parser)
    parser.add_argument(
        "--any-model",
        action="store_true",
        help=f"also list what a model called {_ANY_MODEL} would have: any other has the same, with its own name",
    )


def run(parsed: argparse.Namespace) -> int:
    """Do it."""
    path = Path(parsed.manifest)
    manifest = load(DiskFiles(path.parent).read(path.name), parsed.manifest)
    names, _ = named_models(parsed)
    if wrong := in_order(problems(manifest, names)):
        raise ManifestError(*wrong)
    project = manifest.project.name
    _show(project, plan_files(project, passed_constant_pools(manifest)))
    if parsed.any_model:
        _show(_ANY_MODEL, model_files(_ANY_MODEL))
    for name in sorted(manifest.models if names is None else names):
        _show(name, model_files(name))
    return 0


def _show(owner: str, files: Iterable[str]) -> None:
    for file in files:
        print(f"{owner}\t{file}")
