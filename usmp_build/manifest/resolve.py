"""From a `Manifest` to a `Request`: names become what they stand for, and defaults become values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, ManifestError, Span
from usmp_build.manifest import pools, together
from usmp_build.manifest.check import problems
from usmp_build.manifest.kinds import name_problem
from usmp_build.manifest.load import in_order
from usmp_build.manifest.model import Manifest, Model
from usmp_build.manifest.processors import Processors
from usmp_build.manifest.references import undefined_model
from usmp_build.request import Access, InputOutput, Inputs, ModelRequest, Outputs, PoolRequest, Request

_NO_PATHS: Mapping[str, str] = MappingProxyType({})


def resolve(manifest: Manifest, only: Sequence[str] | None = None, paths: Mapping[str, str] = _NO_PATHS) -> Request:
    """Return what the manifest asks for; raise ManifestError with all that is wrong with it.

    `only` are the models to plan, else all.  `paths` says where models are, and goes before the manifest; a model
    that the manifest does not have is there when it has a path, with the default of everything else.
    """
    names = sorted(set(only) if only is not None else {*manifest.models, *paths})
    brought = [name for name in names if name not in manifest.models and name in paths]
    found = in_order(chain(problems(manifest, brought), _chosen(manifest, names, paths)))
    if found:
        raise ManifestError(*found)
    processors = Processors(manifest, tuple(manifest.pools))
    requested = pools.requested(manifest, processors)
    candidates = _Candidates(requested)
    return Request(
        project=manifest.project.name,
        manifest=re.split(r"[/\\]", manifest.places.source.file)[-1],
        pools=requested,
        models=tuple(_model(manifest, name, paths, candidates, processors) for name in names),
        targets=processors.targets(),
        algorithm=manifest.plan.algorithm,
        options=manifest.plan.options,
        plan_span=manifest.places.value("plan", "algorithm"),
        layout_copies=manifest.plan.layout_copies,
        option_spans={key: manifest.places.key("plan", "options", key) for key in manifest.plan.options},
        concurrent=together.concurrent(manifest, names),
        connections=tuple(together.connections(manifest, names)),
    )


def _chosen(manifest: Manifest, names: Sequence[str], paths: Mapping[str, str]) -> Iterator[Diagnostic]:
    """What is wrong with the choice of models."""
    file = manifest.places.source.file
    if not names:
        help_ = "add a table [models.<name>] with its path, or name models where the build system calls"
        yield Diagnostic("M119", "there is no model to plan", manifest.places.document, help_)
    for name in names:
        known = name in manifest.models
        if not known and name not in paths:
            message, help_ = undefined_model(name, manifest.models)
            yield Diagnostic("M117", f"asked for {message}", file, help_)
        elif name_problem(name):
            help_ = "it becomes part of C identifiers; choose another name"
            yield Diagnostic("M109", f"{quoted(name)} {name_problem(name)}", file, help_)
        elif known and manifest.models[name].path is None and name not in paths:
            place = manifest.places.value("models", name)
            yield Diagnostic(
                "M106", f'[models.{name}] has no "path"', place, f'add for example: path = "{name}.tflite"'
            )


class _Candidates:
    """Positions of pools, by name and by access."""

    def __init__(self, pools: Sequence[PoolRequest]) -> None:
        self._position = {pool.name: position for position, pool in enumerate(pools)}
        self._all = {access: tuple(i for i, pool in enumerate(pools) if pool.access is access) for access in Access}

    def of(self, names: Sequence[str] | None, access: Access) -> tuple[int, ...]:
        """Return the positions of the pools of these names; of all with this access when none are named."""
        return self._all[access] if names is None else tuple(self._position[name] for name in names)


def _model(
    manifest: Manifest, name: str, paths: Mapping[str, str], candidates: _Candidates, processors: Processors
) -> ModelRequest:
    model = manifest.models.get(name, Model())
    places = manifest.places
    span: Span | str = ""
    if name in manifest.models:
        span = places.key("models", name) if name in paths else places.value("models", name, "path")
    return ModelRequest(
        name=name,
        path=paths.get(name, model.path or ""),
        sha256=model.sha256 or "",
        workspace_pools=candidates.of(model.workspace_pools, Access.WORKSPACE),
        constant_pools=candidates.of(model.constant_pools, Access.CONSTANT),
        io=InputOutput(model.io),
        names=model.names,
        span=span,
        names_span=places.key("models", name, "names") if model.names else span,
        places=processors.places(name, model),
        inputs=Inputs(model.inputs),
        outputs=Outputs(model.outputs),
    )
