"""Runs the passes in order, from models to the memory problem, and reruns the later ones for other choices.

models -> select -> alias -> timed        aliases leave what precedes them as it is, and so do orders
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

from usmp_build import passes
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis, Kernels
from usmp_build.interfaces.kernels import Libraries
from usmp_build.ir.axes import Axes
from usmp_build.ir.choices import FILE_ORDER, Choices
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.ir.rewritten import Rewritten, Stage
from usmp_build.ir.scopes import Scopes
from usmp_build.passes.assign import Assignment
from usmp_build.passes.schedule import schedule
from usmp_build.passes.scopes import Scoped
from usmp_build.passes.separations import separations
from usmp_build.passes.strips.divide import in_strips
from usmp_build.request import Request

Stages: TypeAlias = Mapping[int, tuple[Stage, ...]]
"""Model → its stages that run in strips."""


@frozen
class Selection:
    """The results of the passes before those that depend on aliases."""

    assignment: Assignment
    rewrites: tuple[Rewritten, ...]
    scoped: Scoped
    axes: Axes


def analyze(request: Request, models: tuple[Model, ...], libraries: Libraries) -> Analysis:
    """Run all passes, up to the memory problem, with all aliases that can be, and return their results."""
    return alias(request, select(request, models, libraries), libraries)


def select(
    request: Request, models: tuple[Model, ...], libraries: Libraries, stages: Stages = MappingProxyType({})
) -> Selection:
    """Rewrite models, divide these stages of them into strips, select kernels, and insert copies."""
    assignment = passes.assign(request, models)
    models = passes.memories(request, models, assignment)
    off = (model.rewrites_off for model in request.models)
    rewrites = tuple(map(passes.rewrite, models, assignment.pins(request, models), off))
    rewrites = tuple(in_strips(each, stages.get(index, ())) for index, each in enumerate(rewrites))
    rewritten = tuple(each.model for each in rewrites)
    kernels = passes.select(request, rewritten, assignment, libraries)
    scoped = passes.scopes(request, rewritten, assignment, kernels, libraries)
    return Selection(assignment, rewrites, *passes.axes(request, scoped, assignment, libraries))


def flat(selection: Selection, libraries: Libraries) -> Selection:
    """Return a selection in which no concatenation reads the output of another one; the same one if that is so."""
    scoped = passes.flat(selection.scoped, selection.axes, libraries)
    return selection if scoped is selection.scoped else replace(selection, scoped=scoped)


def alias(
    request: Request, selection: Selection, libraries: Libraries, aliases: frozenset[OperatorRef] | None = None
) -> Analysis:
    """Run the other passes, up to the memory problem, and return the results of all.

    Concatenations and splits in `aliases` are aliased, all others copy; None: alias all that can be.
    """
    scoped, axes = selection.scoped, selection.axes
    copies = frozenset(scoped.kernels).difference(scoped.kernels if aliases is None else aliases)
    split = passes.parts(request, scoped, axes, selection.assignment, libraries, copies)
    records = tuple(
        passes.with_saving("parts", rewrite.record, before, after)
        for rewrite, before, after in zip(selection.rewrites, scoped.models, split.models, strict=True)
    )
    return replace(_timed(request, split.models, split.kernels, split.scopes, axes), rewrites=records)


def retime(request: Request, analysis: Analysis, choices: Choices | None = None) -> Analysis:
    """Analyze again from the schedule on, for a request or choices that only change when operators run."""
    chosen = analysis.choices if choices is None else choices
    retimed = _timed(request, analysis.models, analysis.kernels, analysis.scopes, analysis.axes, chosen)
    return replace(retimed, rewrites=analysis.rewrites)


def _timed(
    request: Request,
    models: tuple[Model, ...],
    kernels: Kernels,
    scopes: Scopes,
    axes: Axes,
    choices: Choices = FILE_ORDER,
) -> Analysis:
    """Schedule operators, and derive storage, lifetimes and the problem."""
    kernels = passes.row_kernels(kernels, choices.by_rows)
    connections = passes.connect(request, models, scopes)
    schedule = passes.schedule(request, models, kernels, connections, choices)
    storage = passes.storage(request, models, schedule, kernels, scopes, axes, connections, choices.by_rows)
    storage = passes.once(storage)
    storage = passes.caches(request, models, kernels, scopes, storage)
    survivors = passes.survivors(request, models, connections, storage)
    lifetimes = passes.lifetimes(schedule, storage, survivors)
    traffic = passes.traffic(models, kernels, schedule, storage)
    costs = passes.costs(request, scopes, schedule, storage, traffic)
    allowed = passes.AllowedDistances(request, models, kernels, storage, survivors)
    separations = passes.separations(allowed, schedule, lifetimes)
    problem = passes.lower(request, storage, lifetimes, costs, separations)
    return Analysis(
        models=models,
        kernels=kernels,
        scopes=scopes,
        axes=axes,
        connections=connections,
        schedule=schedule,
        storage=storage,
        survivors=survivors,
        lifetimes=lifetimes,
        traffic=traffic,
        costs=costs,
        allowed=allowed,
        separations=separations,
        problem=problem,
        choices=choices,
    )


def redirect(request: Request, analysis: Analysis, choices: Choices) -> Analysis:
    """Return the analysis for choices that differ in directions only."""
    new_schedule = schedule(request, analysis.models, analysis.kernels, analysis.connections, choices)
    new_separations = separations(analysis.allowed, new_schedule, analysis.lifetimes)
    problem = replace(analysis.problem, separations=new_separations.bytes())
    return replace(analysis, schedule=new_schedule, separations=new_separations, problem=problem, choices=choices)
