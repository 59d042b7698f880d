"""Updates an analysis for other directions of operators: only the schedule and the separations depend on them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.choices import Choices
from usmp_build.ir.schedule import Sequence
from usmp_build.ir.separations import Separations
from usmp_build.passes.schedule import program_of, schedule
from usmp_build.passes.separations import AllowedDistances, allowed_distances, separations
from usmp_build.request import Request

_NOTHING = Sequence(())


def redirect(request: Request, analysis: Analysis, choices: Choices) -> Analysis:
    """Return the analysis for choices that differ in directions only."""
    new_schedule = schedule(request, analysis.models, analysis.kernels, analysis.connections, choices)
    new_separations = separations(allowed_distances(request, analysis), new_schedule, analysis.lifetimes)
    problem = replace(analysis.problem, separations=new_separations.bytes())
    return replace(analysis, schedule=new_schedule, separations=new_separations, problem=problem, choices=choices)


def separations_in(
    request: Request, analysis: Analysis, choices: Choices, models: Collection[int], allowed: AllowedDistances
) -> Separations:
    """Return the separations of buffers that only `models` use, for choices that differ in directions only."""
    graphs = analysis.models, analysis.kernels, analysis.connections
    every = range(len(analysis.models))
    programs = (program_of(index, request, *graphs, choices) if index in models else _NOTHING for index in every)
    return separations(allowed, replace(analysis.schedule, programs=tuple(programs)), analysis.lifetimes)
