"""Reading the manifest that a command line names, or writing one in memory for models that it names instead."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from usmp_build import plugins
from usmp_build.cli.model_names import PROJECT, from_folder, renamings, wanted_names
from usmp_build.cli.overrides import MANIFEST, read_overrides
from usmp_build.document.nearby import nearby
from usmp_build.errors import Diagnostic, ManifestError, UsageError
from usmp_build.files import DiskFiles
from usmp_build.manifest.load import load
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.resolve import resolve
from usmp_build.manifest.starter import StarterModel, fitting_names, starter
from usmp_build.request import Request


def read_request(parsed: argparse.Namespace) -> tuple[Request, DiskFiles]:
    """Read the manifest, with overrides; model files stand relative to it."""
    manifest, files = read_manifest(parsed)
    return resolve(manifest, read_overrides(parsed)), files


def read_manifest(parsed: argparse.Namespace) -> tuple[Manifest, DiskFiles]:
    """Read the manifest alone; of model files in its place, that which `init` would write."""
    paths = parsed.manifest or [MANIFEST]
    models = [path for path in paths if path.lower().endswith(tuple(plugins.importer_suffixes()))]
    if len(models) < len(paths):
        if len(paths) > 1:
            message = f"one manifest, or models in place of it: not {shlex.join(paths)}"
            raise UsageError(Diagnostic("U266", message, help="more models of a manifest: --model NAME=FILE"))
        return _read(Path(paths[0]))
    if parsed.model:
        message = "model files in place of a manifest are planned all together: --model chooses among those of one"
        raise UsageError(Diagnostic("U267", message, help="name the files that are meant, or a manifest"))
    return _without_manifest(models, quiet=getattr(parsed, "quiet", False))


def _read(path: Path) -> tuple[Manifest, DiskFiles]:
    if not os.access(path, os.F_OK):  # it raises nothing, not even for names that are too long
        meant = nearby(path.parent, path.with_suffix(".toml").name)
        hint = f'did you mean "{path.parent / meant}"? Otherwise, ' if meant else ""
        help_ = f"{hint}name the manifest, or models, as arguments, or let `usmp-build init MODEL...` write one"
        message = f'cannot read "{path}": no such file in "{path.parent.resolve()}"'
        raise ManifestError(Diagnostic("M101", message, help=help_))
    files = DiskFiles(path.parent)
    return load(files.read(path.name), str(path)), files


def _without_manifest(models: Sequence[str], quiet: bool) -> tuple[Manifest, DiskFiles]:
    """Declare models as `init` does, so that what is generated does not change by one byte when that is run."""
    paths, folder, files = [Path(model) for model in models], Path(), DiskFiles()
    wanted = wanted_names(paths)
    names = fitting_names(wanted, [PROJECT])
    tables = [StarterModel(name, from_folder(path, folder)) for name, path in zip(names, paths, strict=True)]
    for table in sorted(tables, key=lambda table: table.name):
        files.read(table.path)  # what is missing is told here: no place in a text that nobody wrote would help
    if not quiet:
        note = f'note: planned without a manifest: project "{PROJECT}", one "rw" and one "ro" pool, as large as needed'
        init = f'to limit and place them: "usmp-build init {shlex.join(models)}", which writes {MANIFEST}'
        print(f"{note};\n  {init}", *renamings(paths, wanted, names, PROJECT), sep="\n", file=sys.stderr)
    return load(starter(tables, PROJECT).encode(), MANIFEST), files
