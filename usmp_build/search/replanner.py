"""The firmware as the loops see it: what can be analyzed, timed and planned again, with a part of it changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from usmp_build import plugins
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Libraries
from usmp_build.ir.choices import Choices
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.planner.algorithm import Algorithm
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.trials import sound_plan
from usmp_build.request import Request
from usmp_build.search import analyze
from usmp_build.search.solve import check


@dataclass(frozen=True)
class Replanner:
    """A request, the models it names, and who plans them."""

    request: Request
    models: tuple[Model, ...]
    """As imported."""
    libraries: Libraries
    algorithm: Algorithm

    @staticmethod
    def of(request: Request, models: tuple[Model, ...]) -> Replanner:
        """Bring in the kernel libraries and the algorithm that a request names."""
        return Replanner(request, models, plugins.libraries(request), plugins.algorithm(request))

    def asking(self, request: Request) -> Replanner:
        """The same models with another request, planned by the same algorithm."""
        return replace(self, request=request, libraries=plugins.libraries(request))

    def by(self, algorithm: Algorithm) -> Replanner:
        """The same firmware, planned by another algorithm."""
        return replace(self, algorithm=algorithm)

    def analyze(self, aliases: frozenset[OperatorRef] | None = None) -> Analysis:
        """Run all passes; concatenations and splits in `aliases` copy nothing, None: all that need not."""
        return analyze.analyze(self.request, self.models, self.libraries, aliases)

    def retime(self, analysis: Analysis, choices: Choices | None = None) -> Analysis:
        """Run the passes again from the schedule on, with other orders and directions; None: with the same."""
        return analyze.retime(self.request, analysis, choices)

    def solve(self, analysis: Analysis) -> Plan | None:
        """Run the algorithm; None if it finds no plan.  Raises CheckFailed if its plan is wrong."""
        plan = self.algorithm(analysis.problem)
        if plan is not None:
            check(self.request, analysis, plan)
        return plan

    def attempt(self, problem: Problem) -> Plan | None:
        """Run the algorithm on a problem that is a question of ours: a failure or a wrong plan counts as no plan."""
        return sound_plan(self.algorithm, problem)

    def glance(self, problem: Problem) -> Plan | None:
        """The same, with little work if the algorithm can do with little."""
        brief = self.algorithm.brief if isinstance(self.algorithm, Auto) else self.algorithm
        return sound_plan(brief, problem)
