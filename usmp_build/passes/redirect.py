"""Updates an analysis for other directions of operators: only the schedule and the separations depend on them."""

from __future__ import annotations

from dataclasses import replace

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.choices import Choices
from usmp_build.passes.schedule import schedule
from usmp_build.passes.separations import separations
from usmp_build.request import Request


def redirect(request: Request, analysis: Analysis, choices: Choices) -> Analysis:
    """Return the analysis for choices that differ in directions only."""
    new_schedule = schedule(request, analysis.models, analysis.kernels, analysis.connections, choices)
    new_separations = separations(analysis.allowed, new_schedule, analysis.lifetimes)
    problem = replace(analysis.problem, separations=new_separations.bytes())
    return replace(analysis, schedule=new_schedule, separations=new_separations, problem=problem, choices=choices)
