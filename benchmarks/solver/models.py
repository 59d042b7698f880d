"""What it takes to plan real models layer by layer: the planner alone, from the problem to the plan and its proof."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from usmp_build import pipeline, plugins
from usmp_build.files import DictFiles
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory import Problem
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.plan import peaks
from usmp_build.search.concat_aliasing import choose
from usmp_build.search.replanner import Replanner

_MANIFEST = """
[project]
name = "benchmark"
[pools.sram]
access = "rw"
[models.m]
path = "m.tflite"
[plan]
rows = false
"""
_RUNS = 5


@dataclass(frozen=True, slots=True)
class Planned:
    """A model in one workspace pool."""

    model: str
    buffers: int
    peak: int
    best: bool
    milliseconds: float
    """The median."""


def measure(path: Path) -> Planned:
    """Plan one model."""
    problem = problem_of(path)
    plan = Auto()(problem)
    assert plan is not None
    best = is_best(problem, plan)
    return Planned(path.stem, len(problem.buffers), peaks(problem, plan)[0], best, _milliseconds(problem))


def problem_of(path: Path) -> Problem:
    """State what is planned for a model alone, layer by layer: one pool for its workspace, one for its constants."""
    files = DictFiles({"usmp.toml": _MANIFEST.encode(), "m.tflite": path.read_bytes()})
    request = pipeline.read("usmp.toml", files)
    models = tuple(plugins.import_model(model, files) for model in request.models)
    return choose(Replanner.of(request, models)).analysis.problem


def _milliseconds(problem: Problem) -> float:
    spent = []
    for _ in range(_RUNS):
        begun = time.process_time()
        Auto()(problem)
        spent.append(1000 * (time.process_time() - begun))
    return sorted(spent)[_RUNS // 2]
