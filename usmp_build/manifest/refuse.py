"""Checks that a manifest and its overrides can be planned: for `resolve`, and for commands that do not plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from usmp_build.document.suggest import plain, quoted
from usmp_build.errors import Diagnostic, ManifestError, UsageError
from usmp_build.manifest.check import MOST, problems, too_many
from usmp_build.manifest.kinds import name_problem
from usmp_build.manifest.load import in_order
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.overrides import Overrides, mistakes
from usmp_build.manifest.references import undefined_model


def refuse(manifest: Manifest, overrides: Overrides, more_models: bool = False) -> None:
    """Raise ManifestError with all that is wrong with a manifest; if nothing is, UsageError for overrides.

    With `more_models`, models may be added later: so there need not be any, nor need every pool be used.
    """
    if more_models:
        wrong = chain(problems(manifest), _names(manifest, overrides.paths))
    else:
        names = overrides.planned(manifest)
        manifest_problems = problems(manifest, overrides.with_other_pools(manifest))
        wrong = chain(manifest_problems, _chosen(manifest, names, overrides.paths))
    if diagnostics := in_order(wrong):
        raise ManifestError(*diagnostics)
    if diagnostics := list(mistakes(overrides, manifest)):
        raise UsageError(*diagnostics)


def _chosen(manifest: Manifest, names: Sequence[str], paths: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the choice of models."""
    file = manifest.places.source.file
    if not names:
        help_ = (
            "add a table [models.<name>] with its path; for one that only the build system names, say --model NAME=FILE"
        )
        yield Diagnostic("M119", "there is no model to plan", manifest.places.document, help_)
    if len(names) > MOST:
        yield too_many("models", len(names), file)
    for name in names:
        is_declared = name in manifest.models
        if not is_declared and name not in paths:
            message, help_ = undefined_model(name, manifest.models)
            help_ = f"{help_}; or give its file: --model {plain(name)}=FILE"
            yield Diagnostic("M117", f"--model asks for {message}", file, help_)
        elif name_problem(name):
            yield from _names(manifest, [name])
        elif is_declared and manifest.models[name].path is None and name not in paths:
            place = manifest.places.value("models", name)
            help_ = f'add for example: path = "{name}.tflite"; or pass --model {name}=FILE where the tool is called'
            yield Diagnostic("M106", f'[models.{name}] has no "path"', place, help_)


def _names(manifest: Manifest, models: Iterable[str]) -> Iterator[Diagnostic]:
    for name in sorted(models):
        if name_problem(name):
            help_ = "it becomes part of C identifiers; choose another name"
            yield Diagnostic("M109", f"{quoted(name)} {name_problem(name)}", manifest.places.source.file, help_)
