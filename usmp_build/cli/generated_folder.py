"""A generated folder on the command line: what it was planned from, and for which instructions."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from usmp_build.cli.argument_files import with_files
from usmp_build.cli.overrides import manifest_arguments, read_overrides
from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, UsageError, UsmpError
from usmp_build.layout import PlanRecord
from usmp_build.manifest import defaults
from usmp_build.manifest.model import Manifest, Target
from usmp_build.manifest.overrides import Overrides
from usmp_build.request import Isa

_ARGUMENTS = ".args"
"""Added to the name of a folder, it is that of the file in which CMake leaves the arguments of the plan."""


def follow_folder(parsed: argparse.Namespace) -> None:
    """Replace a generated folder in place of the manifest by the manifest and the overrides that it was planned with.

    They are in the file that a build leaves beside the folder.  A folder that is checked in has none: then the manifest
    that plan.json names is expected beside the folder, or in the current one.  Raises UsageError if there is none.
    """
    paths = parsed.manifest or []
    if len(paths) != 1 or not os.access(Path(paths[0]) / "plan.json", os.F_OK):
        return
    folder = Path(paths[0])
    file = Path(f"{folder}{_ARGUMENTS}")
    named = {given.partition("=")[0] for given in parsed.model or ()}
    lines = with_files([f"@{file}"]) if file.is_file() else [*_recorded(_read_plan(folder), folder, named)]
    parser = _ArgumentsOfBuild(prog=str(file), add_help=False)
    manifest_arguments(parser)
    planned = parser.parse_args(lines)
    for name in ("model", "workspace_pools", "constant_pools", "concurrent"):
        setattr(parsed, name, [*(getattr(planned, name) or ()), *(getattr(parsed, name) or ())])
    parsed.manifest, parsed.folder = planned.manifest, str(folder)


class _ArgumentsOfBuild(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        help_ = "build again: the build writes this file; or give the manifest in place of the folder"
        raise UsageError(Diagnostic("U288", f"these are no arguments of a build: {message}", self.prog, help_))


def _recorded(plan: PlanRecord, folder: Path, named: Collection[str]) -> Iterator[str]:
    """Yield the arguments that plan.json records; not the files of models, but which models a build has chosen."""
    has_chosen = any(model.overrides.path for model in plan.models)
    yield from (f"--model={model.name}" for model in plan.models if has_chosen and model.name not in named)
    for model in plan.models:
        for key, names in model.overrides.given.items():
            if names is not True:
                yield f"--{key.replace('_', '-')}={model.name}={','.join(names)}"
    name = Path(plan.manifest).name
    manifest = next((path for path in (folder.parent / name, Path(name)) if path.is_file()), None)
    if manifest is None:
        message = f'the manifest of "{folder}", {quoted(name)}, is neither beside the folder nor in the current one'
        help_ = 'give the manifest in place of the folder, and what the folder was planned for: "--isa ..."'
        raise UsageError(Diagnostic("U289", message, help=help_))
    yield from ("--", str(manifest))


_UNKNOWN = "; a build for -mcpu=cortex-m4 takes isa dsp (say --isa=-mcpu=cortex-m4)"


def overrides_for(
    parsed: argparse.Namespace, manifest: Manifest, folder: str | None = None, has_note: bool = True
) -> Overrides:
    """Return the overrides of the command line.

    Without --isa, targets for which the manifest has none get the instructions that a generated folder was planned for:
    the one in place of the manifest, or `folder`.  `parsed` gets a note that says so, or that nothing is known.
    """
    overrides, folder = read_overrides(parsed), getattr(parsed, "folder", folder)
    without = [
        name for name in (defaults.TARGET, *manifest.targets) if manifest.targets.get(name, Target()).isa is None
    ]
    if parsed.isa is not None or not without:
        return overrides
    recorded = None if folder is None else _recorded_isa(folder, without)
    isa = recorded or overrides.isa
    if has_note:
        what = "portable C" if isa is Isa.PORTABLE else f"isa {isa.value}"
        parsed.isa_note = f"note: planned for {what}" + (f', as "{folder}" is' if recorded else _UNKNOWN)
    return replace(overrides, isa=isa)


def _recorded_isa(folder: str, targets: list[str]) -> Isa | None:
    """Return the instructions that a generated folder has for the first of these targets; None if it is no such."""
    try:
        plan = _read_plan(Path(folder))
    except UsmpError:
        return None
    return next((Isa(target.isa) for target in plan.targets if target.name in targets), None)


def _read_plan(folder: Path) -> PlanRecord:
    from usmp_build.cli.plan_file import read_plan_file  # only now: most command lines name no folder

    return read_plan_file(str(folder))
