"""What one solver does with one instance."""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.solver.instances import Instance
from usmp_build.planner import solve
from usmp_build.planner.algorithms.exact.searcher import Searcher
from usmp_build.planner.algorithms.exact.sections import make_strip


@dataclass(frozen=True, slots=True)
class Figures:
    """An answer and its price."""

    solver: str
    status: str
    peak: int | None
    """Bytes; None without a plan."""
    work: int | None
    """In the solver's units; None if it does not count."""
    seconds: float
    """Of one processor."""


def fit(instance: Instance, algorithm: str, **options: object) -> Figures:
    """Ask whether the instance fits into its capacity."""
    return _asked(instance, algorithm, instance.capacity, options)


def search_seconds(instance: Instance, nodes: int) -> float:
    """Return what the search alone takes, of one processor, the least of five: others may be at work there."""
    problem = instance.problem
    strip = make_strip(problem, range(len(problem.buffers)))
    searcher = Searcher(strip)
    spent = []
    for _ in range(5):
        begun = time.process_time()
        searcher.fit(instance.capacity // strip.unit, nodes)
        spent.append(time.process_time() - begun)
    return min(spent)


def least(instance: Instance, algorithm: str, **options: object) -> Figures:
    """Ask for the least capacity."""
    return _asked(instance, algorithm, None, options)


def _asked(instance: Instance, algorithm: str, capacity: int | None, options: dict[str, object]) -> Figures:
    problem = instance.problem
    begun = time.process_time()
    solution = solve(problem, algorithm, capacity=capacity, **options)
    spent = time.process_time() - begun
    peak = solution.peaks[0] if solution.plan is not None else None
    named = ", ".join([algorithm, *(f"{value:,} {option}" for option, value in options.items())])
    return Figures(named, solution.status.value, peak, solution.work, spent)
