"""The road, from a manifest to a bundle of files.  Start reading here.

    load → resolve → import → assign → rewrite → select kernels → scopes → axes → connect → schedule → storage → once
         → caches → survivors → lifetimes → traffic → costs → lower
         → algorithm → verify → group → verify → alone → without_limits → keeping → summarize → arrange → emit

Every stage is a function from values to a new value.  Reading goes through `files`; nothing here writes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import chain

from usmp_build import arrange, keeping, passes, plugins, solving
from usmp_build.bundle import Bundle
from usmp_build.errors import Diagnostic, ModelError
from usmp_build.files import Files
from usmp_build.interfaces.analysis import Analysis, Kernels
from usmp_build.interfaces.kernels import Libraries
from usmp_build.ir.axes import Axes
from usmp_build.ir.graph import Model
from usmp_build.ir.scopes import Scopes
from usmp_build.layout import Layout, Summary
from usmp_build.manifest.load import load
from usmp_build.manifest.resolve import resolve
from usmp_build.memory.plan import Plan
from usmp_build.request import ModelRequest, Request


@dataclass(frozen=True)
class Planned:
    """Everything up to the proven plan."""

    request: Request
    imported: tuple[Model, ...]
    """Before any rewrite."""
    analysis: Analysis
    plan: Plan
    summary: Summary


def read(manifest: str, files: Files) -> Request:
    """Read a manifest."""
    return resolve(load(files.read(manifest), manifest))


def build(request: Request, files: Files) -> Bundle:
    """From a request to the files it asks for."""
    return emit(lay_out(plan(request, files)))


def plan(request: Request, files: Files) -> Planned:
    """From a request to a proven plan; operators without kernels are welcome here."""
    models = tuple(import_model(model, files) for model in request.models)
    analysis = analyze(request, models)
    algorithm = plugins.algorithm(request.algorithm, request.options, request.plan_span, request.option_spans)
    found = solving.solve(request, analysis, algorithm, restate=lambda other: analyze(other, models))
    alone = solving.needs_alone(analysis, found)
    without_limits = solving.without_limits(request, analysis, found, algorithm)
    kept = keeping.keeping(request, analysis, found, restate=lambda other: retimed(other, analysis))
    summary = arrange.summarize(request, analysis, found, alone, kept, without_limits)
    return Planned(request, models, analysis, found, summary)


def lay_out(planned: Planned) -> Layout:
    """From a plan to everything that C needs."""
    libraries = _libraries(planned.request)
    return arrange.arrange(planned.request, planned.analysis, planned.plan, planned.summary, libraries)


def emit(layout: Layout) -> Bundle:
    """From a layout to files in memory."""
    return Bundle.collect(chain.from_iterable(emitter(layout) for emitter in plugins.emitters()))


def import_model(model: ModelRequest, files: Files) -> Model:
    """Read one model file."""
    data = files.read(model.path, f"--model {model.name}" if "path" in model.overrides else model.span)
    digest = hashlib.sha256(data).hexdigest()
    if model.sha256 and model.sha256 != digest:
        message = f'model "{model.name}" is not the file that the manifest expects: its sha256 is {digest}'
        raise ModelError(Diagnostic("P201", message, model.span, "update sha256, or restore the file"))
    return plugins.importer(model.path, model.span)(data, model.name, files.shown(model.path))


def analyze(request: Request, models: tuple[Model, ...], libraries: Libraries | None = None) -> Analysis:
    """Find out everything that can be known before anything is placed; `libraries` stand in for those of plug-ins."""
    libraries = _libraries(request) if libraries is None else libraries
    assignment = passes.assign(request, models)
    rewritten = tuple(map(passes.rewrite, models, assignment.pins(request, models)))
    kernels = passes.select(request, rewritten, assignment, libraries)
    scoped = passes.scopes(request, rewritten, assignment, kernels, libraries)
    scoped, axes = passes.axes(request, scoped, assignment, libraries)
    return timed(request, scoped.models, scoped.kernels, scoped.scopes, axes)


def timed(request: Request, models: tuple[Model, ...], kernels: Kernels, scopes: Scopes, axes: Axes) -> Analysis:
    """Find out what runs when, and what must be in memory then: the second half of `analyze`."""
    connections = passes.connect(request, models, scopes)
    schedule = passes.schedule(request, models, kernels, connections)
    storage = passes.storage(request, models, schedule, kernels, scopes, axes, connections)
    storage = passes.once(storage)
    storage = passes.caches(request, models, kernels, scopes, storage)
    survivors = passes.survivors(request, models, connections, storage)
    lifetimes = passes.lifetimes(schedule, storage, survivors)
    traffic = passes.traffic(models, kernels, storage)
    costs = passes.costs(request, scopes, schedule, storage, traffic)
    problem = passes.lower(request, storage, lifetimes, costs)
    return Analysis(
        models, kernels, scopes, axes, connections, schedule, storage, survivors, lifetimes, traffic, costs, problem
    )


def retimed(request: Request, analysis: Analysis) -> Analysis:
    """Analyze a request that differs only in when things run."""
    return timed(request, analysis.models, analysis.kernels, analysis.scopes, analysis.axes)


def _libraries(request: Request) -> Libraries:
    """Return every library that a target or a rule of `place` names, for each target, and those that make copies."""
    asked = {key: request.targets[key[0]].span for key in passes.copiers(request)}
    for t, target in enumerate(request.targets):
        asked[t, target.kernels] = target.kernels_span
        asked |= {(t, rule.kernels): rule.span for m in request.models for rule in m.places if rule.kernels}
    return {(t, name): plugins.kernels(name, span, request.targets[t]) for (t, name), span in asked.items()}
