"""What a request names, brought in: model files, kernel libraries, the algorithm."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from usmp_build import passes, plugins
from usmp_build.errors import Diagnostic, ModelError
from usmp_build.files import Files
from usmp_build.interfaces import Algorithm
from usmp_build.interfaces.kernels import Libraries
from usmp_build.ir.graph import Model
from usmp_build.request import ModelRequest, Request


def import_model(model: ModelRequest, files: Files) -> Model:
    """Read one model file."""
    data = files.read(model.path, f"--model {model.name}" if "path" in model.overrides else model.span)
    digest = hashlib.sha256(data).hexdigest()
    if model.sha256 and model.sha256 != digest:
        message = f'model "{model.name}" is not the file it was: {files.shown(model.path)} has another sha256'
        help_ = f'restore the file; or, if it is meant to be new, write sha256 = "{digest}"'
        raise ModelError(Diagnostic("P201", message, model.sha256_span, help_))
    imported = plugins.importer(model.path, model.span)(data, model.name, files.shown(model.path))
    return replace(imported, sha256=digest)


def algorithm(request: Request) -> Algorithm:
    """Return the algorithm, with its options set."""
    return plugins.algorithm(request.algorithm, request.options, request.plan_span, request.option_spans)


def libraries(request: Request) -> Libraries:
    """Return every library that a target or a rule of `place` names, for each target, and those that make copies."""
    asked = {key: request.targets[key[0]].span for key in passes.copiers(request)}
    for t, target in enumerate(request.targets):
        asked[t, target.kernels] = target.kernels_span
        asked |= {(t, rule.kernels): rule.span for m in request.models for rule in m.places if rule.kernels}
    return {(t, name): plugins.kernels(name, span, request.targets[t]) for (t, name), span in asked.items()}
