"""Gives the search loops one value to analyze, retime and plan a firmware again with something changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property

from usmp_build import passes, plugins
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Libraries
from usmp_build.ir.choices import Choices
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.passes.assign import REFERENCE
from usmp_build.planner import by_name
from usmp_build.planner.algorithm import Algorithm
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.trials import sound_plan
from usmp_build.request import Request
from usmp_build.search import analyze
from usmp_build.search.analyze import Selection, Stages
from usmp_build.search.finalize import check


def silent() -> None:
    """Show no progress."""


@frozen
class Replanner:
    """A request, its models, kernel libraries and algorithm."""

    request: Request
    models: tuple[Model, ...]
    """As imported."""
    libraries: Libraries
    algorithm: Algorithm
    step: Callable[[], None] = silent
    """Called for each analysis, to show progress."""
    stages: Stages = field(default_factory=dict)
    """What runs in strips of columns."""
    takes_first: bool = False
    """Whether any plan will do: the search ends with the first one."""

    @staticmethod
    def of(request: Request, models: tuple[Model, ...]) -> Replanner:
        """Load the kernel libraries and the algorithm that a request names."""
        algorithm = by_name.algorithm(request.algorithm, request.options, request.plan_span, request.option_spans)
        return Replanner(request, models, _libraries(request), algorithm)

    def asking(self, request: Request) -> Replanner:
        """Return a replanner of the same models for another request, with the same algorithm."""
        return replace(self, request=request, libraries=_libraries(request))

    def of_model(self, index: int) -> Replanner:
        """Return a replanner of one model, as if there were no other one."""
        request = replace(self.request, models=(self.request.models[index],), concurrent=frozenset(), connections=())
        return replace(self.asking(request), models=(self.models[index],))

    def by(self, algorithm: Algorithm) -> Replanner:
        """Return a replanner of the same firmware with another algorithm."""
        return replace(self, algorithm=algorithm)

    def briefly(self) -> Replanner:
        """Return a replanner whose algorithm takes little effort, if it supports that."""
        return self.by(self.algorithm.brief) if isinstance(self.algorithm, Auto) else self

    def at_first(self) -> Replanner:
        """Return a replanner that ends with the first plan, made with little effort."""
        first = replace(self, takes_first=True)
        return first.by(replace(self.algorithm, minimize=False).brief) if isinstance(self.algorithm, Auto) else first

    def analyze(self, aliases: frozenset[OperatorRef] | None = None) -> Analysis:
        """Run all passes; concatenations and splits in `aliases` are aliased, None: all that can be."""
        self.step()
        return analyze.alias(self.request, self.selection, self.libraries, aliases)

    def copy_flat(self, aliases: frozenset[OperatorRef]) -> Analysis | None:
        """Run all passes where concatenations read no other one's output, as in `analyze`; None if they never do."""
        selection = analyze.flat(self.selection, self.libraries)
        if selection is self.selection:
            return None
        self.step()
        return analyze.alias(self.request, selection, self.libraries, aliases)

    @cached_property
    def selection(self) -> Selection:
        """The results of the passes up to the first that depend on aliases."""
        return analyze.select(self.request, self.models, self.libraries, self.stages)

    def retime(self, analysis: Analysis, choices: Choices | None = None) -> Analysis:
        """Rerun the passes from the schedule on, with other orders and directions; None: with the same."""
        self.step()
        return analyze.retime(self.request, analysis, choices)

    def solve(self, analysis: Analysis) -> Plan | None:
        """Run the algorithm; None if it finds no plan.  Raises CheckFailed if its plan is wrong."""
        plan = self.algorithm(analysis.problem)
        if plan is not None:
            check(self.request, analysis, plan)
        return plan

    def attempt(self, problem: Problem) -> Plan | None:
        """Run the algorithm speculatively: a failure or a wrong plan counts as no plan."""
        return sound_plan(self.algorithm, problem)

    def moderate(self, problem: Problem) -> Plan | None:
        """Run the algorithm speculatively, with less exact search if it supports that."""
        return sound_plan(self.algorithm.moderate if isinstance(self.algorithm, Auto) else self.algorithm, problem)

    def glance(self, problem: Problem) -> Plan | None:
        """Run the algorithm speculatively, with little effort if it supports that."""
        brief = self.algorithm.brief if isinstance(self.algorithm, Auto) else self.algorithm
        return sound_plan(brief, problem)


def _libraries(request: Request) -> Libraries:
    """Return every library that a target or a rule of `place` names, for each target, and those that make copies.

    The reference library is always there: others may return its kernels.
    """
    spans = {key: request.targets[key[0]].span for key in passes.copiers(request)}
    for t, target in enumerate(request.targets):
        spans.setdefault((t, REFERENCE), target.span)
        spans[t, target.kernels] = target.kernels_span
        spans |= {(t, rule.kernels): rule.span for m in request.models for rule in m.places if rule.kernels}
    return {(t, name): plugins.kernels(name, span, request.targets[t]) for (t, name), span in spans.items()}
