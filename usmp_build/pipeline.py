"""The road, from a manifest to a bundle of files.  Start reading here.

    read        load → resolve
    plan        import
                choose      the best of many plans, each of an analysis and an algorithm, in four loops:
                            limits: lifted ⊃ parting: which operators copy ⊃ choosing: orders ⊃ directing: directions
                settle      verify → group constants → verify
                report      alone → cheapest → keeping → max_live → summarize
    lay_out     arrange
    emit

    analyze     assign → rewrite → select kernels → scopes → axes → parts; then
    timed       connect → schedule → storage → once → caches → survivors → lifetimes → traffic → costs → separations
                → lower; again for other orders

Every stage is a function from values to a new value.  Reading goes through `files`; nothing here writes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from usmp_build import arrange, choosing, keeping, limits, loading, parting, passes, plugins, solving, workspace
from usmp_build.algorithms.auto import Auto
from usmp_build.bundle import Bundle
from usmp_build.errors import UsmpError
from usmp_build.files import Files
from usmp_build.interfaces import Algorithm
from usmp_build.interfaces.analysis import Analysis, Kernels
from usmp_build.interfaces.kernels import Libraries
from usmp_build.ir.axes import Axes
from usmp_build.ir.choices import FILE_ORDER, Choices
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.ir.scopes import Scopes
from usmp_build.layout import Layout, Summary
from usmp_build.manifest.load import load
from usmp_build.manifest.resolve import resolve
from usmp_build.memory.plan import Plan
from usmp_build.refusal import refusal
from usmp_build.request import Request


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
    return plan_models(request, tuple(loading.import_model(model, files) for model in request.models))


def plan_models(request: Request, models: tuple[Model, ...]) -> Planned:
    """As `plan`, of the models that the request names, once they are imported."""
    algorithm = loading.algorithm(request)
    choose_again = partial(choose, models=models, algorithm=algorithm)
    fitted = limits.fitted(request, choose_again, algorithm)
    chosen, analysis = fitted.chosen, fitted.chosen.analysis
    if chosen.plan is None:
        raise refusal(request, fitted, algorithm, choose_again)
    found = solving.settled(request, analysis, chosen.plan)
    alone = workspace.needs_alone(request, chosen, found)
    algorithms = {request.algorithm: choose_again}
    algorithms.setdefault("auto", partial(choose, models=models, algorithm=Auto()))
    cheapest = limits.cheapest(request, fitted, algorithms)
    same = partial(_in_same_orders, analysis)
    kept = keeping.keeping(request, analysis, found, restate=same, again=partial(_in_orders_of_its_own, analysis))
    others = arrange.OtherWays(
        max_live=max_live(request, models),
        any_schedule=chosen.bound,
        best_directions=chosen.directions_are_proven,
        best_order=chosen.orders_are_proven,
        other_buffers=chosen.other_buffers,
    )
    summary = arrange.summarize(request, analysis, found, alone, kept, cheapest, others)
    return Planned(request, models, analysis, found, summary)


def max_live(request: Request, models: tuple[Model, ...]) -> int | None:
    """Return the bytes of workspace that are alive together in the models as their files have them.

    None where these cannot be analyzed without rewrites: this is one figure of a report, and refuses no plan.
    """
    try:
        return workspace.max_live(analyze(request.as_filed(), models))
    except UsmpError:
        return None


def choose(request: Request, models: tuple[Model, ...], algorithm: Algorithm | None = None) -> choosing.Chosen:
    """Choose where tensors are parts of others, orders and directions; None: with the algorithm of the request."""
    asked = loading.algorithm(request) if algorithm is None else algorithm

    def ordered(first: Analysis) -> choosing.Chosen:
        return choosing.choose(request, first, asked, lambda choices: retimed(request, first, choices))

    chosen = parting.parted(lambda shares: analyze(request, models, shares=shares), ordered)
    if chosen.further:
        chosen = replace(chosen.further(), other_buffers=chosen.other_buffers)
    return choosing.refined(chosen, asked)


def _in_same_orders(analysis: Analysis, request: Request) -> Analysis:
    return retimed(request, analysis)


def _in_orders_of_its_own(analysis: Analysis, request: Request) -> tuple[Analysis, Plan | None]:
    """Choose orders and directions, by "auto", for a request that differs only in when things run."""
    first = retimed(request, analysis, FILE_ORDER)
    chosen = choosing.choose(request, first, Auto(), partial(retimed, request, first))
    return chosen.analysis, chosen.plan


def lay_out(planned: Planned) -> Layout:
    """From a plan to everything that C needs."""
    libraries = loading.libraries(planned.request)
    return arrange.arrange(planned.request, planned.analysis, planned.plan, planned.summary, libraries)


def emit(layout: Layout) -> Bundle:
    """From a layout to files in memory."""
    return Bundle.collect(chain.from_iterable(emitter(layout) for emitter in plugins.emitters()))


def analyze(
    request: Request,
    models: tuple[Model, ...],
    libraries: Libraries | None = None,
    shares: frozenset[OperatorRef] | None = None,
) -> Analysis:
    """Find out everything that can be known before anything is placed; `libraries` stand in for those of plug-ins.

    Tensors are parts of others only where the operators in `shares` are, as all others copy; None: wherever they can.
    """
    libraries = loading.libraries(request) if libraries is None else libraries
    assignment = passes.assign(request, models)
    off = (model.rewrites_off for model in request.models)
    rewrites = tuple(map(passes.rewrite, models, assignment.pins(request, models), off))
    rewritten = tuple(each.model for each in rewrites)
    kernels = passes.select(request, rewritten, assignment, libraries)
    scoped = passes.scopes(request, rewritten, assignment, kernels, libraries)
    scoped, axes = passes.axes(request, scoped, assignment, libraries)
    copies = frozenset(scoped.kernels).difference(scoped.kernels if shares is None else shares)
    split = passes.parts(request, scoped, axes, assignment, libraries, copies)
    records = tuple(
        passes.with_saving("parts", rewrite.record, before, after)
        for rewrite, before, after in zip(rewrites, scoped.models, split.models, strict=True)
    )
    return replace(timed(request, split.models, split.kernels, split.scopes, axes), rewrites=records)


def timed(
    request: Request,
    models: tuple[Model, ...],
    kernels: Kernels,
    scopes: Scopes,
    axes: Axes,
    choices: Choices = FILE_ORDER,
) -> Analysis:
    """Find out what runs when, and what must be in memory then: the second half of `analyze`."""
    connections = passes.connect(request, models, scopes)
    schedule = passes.schedule(request, models, kernels, connections, choices)
    storage = passes.storage(request, models, schedule, kernels, scopes, axes, connections)
    storage = passes.once(storage)
    storage = passes.caches(request, models, kernels, scopes, storage)
    survivors = passes.survivors(request, models, connections, storage)
    lifetimes = passes.lifetimes(schedule, storage, survivors)
    traffic = passes.traffic(models, kernels, schedule, storage)
    costs = passes.costs(request, scopes, schedule, storage, traffic)
    separations = passes.separations(request, models, kernels, schedule, storage, survivors, lifetimes)
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
        separations=separations,
        problem=problem,
        choices=choices,
    )


def retimed(request: Request, analysis: Analysis, choices: Choices | None = None) -> Analysis:
    """Analyze a request that differs only in when things run, with the same choices or others."""
    chosen = analysis.choices if choices is None else choices
    again = timed(request, analysis.models, analysis.kernels, analysis.scopes, analysis.axes, chosen)
    return replace(again, rewrites=analysis.rewrites)
