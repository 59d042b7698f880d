"""List the files that `generate` would write, without planning: for build systems.

Each line names an owner (the plan, then each model), a tab, and a file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from usmp_build.cli.overrides import manifest_arguments, read_overrides
from usmp_build.cli.reading import read_manifest
from usmp_build.manifest.clashes import pool_bytes
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.refuse import refuse
from usmp_build.naming import model_files, plan_files

_ANY_MODEL = "<model>"
_CMSIS_NN = "cmsis-nn"
"""The kernel library that calls a library of the application, which build systems call the same."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    manifest_arguments(parser)
    parser.add_argument(
        "--any-model",
        action="store_true",
        help=f"also list the files of a model {_ANY_MODEL}, which stands for models added later",
    )
    parser.add_argument(
        "--inputs",
        action="store_true",
        help='also list the files of the models themselves, relative to the manifest, with a third column "input"',
    )
    parser.add_argument(
        "--regions",
        action="store_true",
        help='also list pools that the linker fragment puts into regions: pool, region, and a third column "region"',
    )
    parser.add_argument(
        "--libraries",
        action="store_true",
        help='also list libraries of the application that kernels call, with the project and a third column "library"',
    )


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    manifest, _ = read_manifest(parsed)
    overrides = read_overrides(parsed)
    refuse(manifest, overrides, more_models=parsed.any_model)
    project = manifest.project.name
    _show(project, plan_files(project, pool_bytes(manifest)))
    if parsed.any_model:
        _show(_ANY_MODEL, model_files(_ANY_MODEL))
    for name in overrides.planned(manifest):
        _show(name, model_files(name))
        file = overrides.paths.get(name) or (manifest.models[name].path if name in manifest.models else None)
        if parsed.inputs and file:
            print(f"{name}\t{file}\tinput")
    for name, pool in manifest.pools.items():
        if parsed.regions and pool.region and pool.owner == "generated":
            print(f"{name}\t{pool.region}\tregion")
    if parsed.libraries and _CMSIS_NN in _kernels(manifest):
        print(f"{project}\t{_CMSIS_NN}\tlibrary")
    return 0


def _kernels(manifest: Manifest) -> set[str | None]:
    """Return the names of the kernel libraries that targets and `place` rules use."""
    places = (place for model in manifest.models.values() for place in model.place)
    return {target.kernels for target in manifest.targets.values()} | {place.kernels for place in places}


def _show(owner: str, files: Iterable[str]) -> None:
    for file in files:
        print(f"{owner}\t{file}")
