"""Analysis → the same, with other directions: nothing but the schedule and the separations depends on them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.choices import Choices
from usmp_build.ir.schedule import Schedule, Sequence
from usmp_build.ir.separations import Separations
from usmp_build.passes.schedule import program_of, schedule
from usmp_build.passes.separations import separations
from usmp_build.request import Request

_NOTHING = Sequence(())


def redirect(request: Request, analysis: Analysis, choices: Choices) -> Analysis:
    """Analyze with choices that differ in directions only."""
    found = schedule(request, analysis.models, analysis.kernels, analysis.connections, choices)
    near = _separations(request, analysis, found)
    problem = replace(analysis.problem, separations=near.bytes())
    return replace(analysis, schedule=found, separations=near, problem=problem, choices=choices)


def near_in(request: Request, analysis: Analysis, choices: Choices, models: Collection[int]) -> Separations:
    """Return the separations of buffers that only these models use, with choices that differ in directions only."""
    known = analysis.models, analysis.kernels, analysis.connections
    every = range(len(analysis.models))
    programs = (program_of(index, request, *known, choices) if index in models else _NOTHING for index in every)
    return _separations(request, analysis, replace(analysis.schedule, programs=tuple(programs)))


def _separations(request: Request, analysis: Analysis, found: Schedule) -> Separations:
    models, kernels, storage = analysis.models, analysis.kernels, analysis.storage
    return separations(request, models, kernels, found, storage, analysis.survivors, analysis.lifetimes)
