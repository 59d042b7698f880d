"""The road, from a manifest to a bundle of files.  Start reading here.

    read        load → resolve
    plan        import
                fit         the best of many plans, each of an analysis and an algorithm, in five loops (`search/`):
                            limits: lifted ⊃ strips: of which stages ⊃ concatenations: which copy ⊃ orders of
                            operators ⊃ directions; then moves of rows, for which the orders stay
                finalize    verify → group constants → verify
                summarize   pools, buffers, models, and what is proven of them (`report/`)
    compare     the plan with others: each model alone, in larger pools, with default settings
    study       the plan with those of other manifests (`report/changes.py`)
    lay_out     arrange
    emit

    analyze     assign → rewrite → strips → select kernels → scopes → axes → parts; then, again for other orders,
                connect → schedule → storage → once → caches → survivors → lifetimes → traffic → costs → separations
                → lower (`search/analyze.py`)

Every stage is a function from values to a new value.  Reading goes through `files`; nothing here writes.  Stages that
most verbs do without are imported where they begin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from usmp_build import plugins
from usmp_build.files import Files
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import Model
from usmp_build.layout import AlternativesRecord, Summary
from usmp_build.manifest.load import load
from usmp_build.manifest.resolve import resolve
from usmp_build.planner.memory.plan import Plan
from usmp_build.report.alternatives import alternatives
from usmp_build.report.summarize import summarize
from usmp_build.request import Request
from usmp_build.search import limits
from usmp_build.search.finalize import finalize
from usmp_build.search.limits import Fitted
from usmp_build.search.replanner import Replanner, silent

if TYPE_CHECKING:
    from usmp_build.layout.layout import Layout
    from usmp_build.output.bundle import Bundle
    from usmp_build.report.study import Study


@frozen
class Planned:
    """Everything up to the proven plan."""

    replanner: Replanner
    fitted: Fitted
    plan: Plan
    """Of what was chosen, with its constants grouped."""
    summary: Summary

    @property
    def request(self) -> Request:
        """What was planned."""
        return self.replanner.request

    @property
    def imported(self) -> tuple[Model, ...]:
        """The models before any rewrite."""
        return self.replanner.models

    @property
    def analysis(self) -> Analysis:
        """The analysis of the chosen candidate, with its orders and directions."""
        return self.fitted.chosen.analysis


def read(manifest: str, files: Files) -> Request:
    """Read a manifest."""
    return resolve(load(files.read(manifest), manifest))


def build(request: Request, files: Files) -> Bundle:
    """From a request to the files it asks for."""
    return emit(lay_out(plan(request, files)))


def plan(request: Request, files: Files, step: Callable[[], None] = silent) -> Planned:
    """From a request to a proven plan; operators may lack kernels, as long as no C is generated.

    `step` is called now and then, to show progress.
    """
    return plan_models(request, tuple(plugins.import_model(model, files) for model in request.models), step)


def plan_models(request: Request, models: tuple[Model, ...], step: Callable[[], None] = silent) -> Planned:
    """As `plan`, of the models that the request names, once they are imported."""
    replanner = replace(Replanner.of(request, models), step=step)
    fitted = limits.fit(replanner)
    if fitted.chosen.plan is None:
        from usmp_build.report.infeasible import explain_infeasible

        raise explain_infeasible(replanner, fitted)
    plan = finalize(request, fitted.chosen.analysis, fitted.chosen.plan)
    return Planned(replanner, fitted, plan, summarize(request, fitted.chosen, plan))


def compare(planned: Planned) -> AlternativesRecord:
    """From a proven plan to what the firmware would take otherwise, which is planned, too."""
    return alternatives(planned.replanner, planned.fitted, planned.plan)


def study(planned: Planned) -> Study:
    """From a proven plan to what a report says beyond it: other manifests are planned, too."""
    from usmp_build.report.study import study

    return study(planned.replanner, planned.fitted, planned.summary, compare(planned))


def lay_out(planned: Planned) -> Layout:
    """From a plan to everything that C needs."""
    from usmp_build.codegen.arrange import arrange

    libraries = planned.replanner.libraries
    return arrange(planned.request, planned.analysis, planned.plan, planned.summary, libraries)


def emit(layout: Layout) -> Bundle:
    """From a layout to files in memory."""
    from usmp_build.output.bundle import Bundle

    return Bundle.collect(chain.from_iterable(emitter(layout) for emitter in plugins.emitters()))
