"""What else the manifest could say so that the buffers fit.

More pools, arrays of the caller, less kept, taking turns, and what is on by default and was switched off.

Nothing is offered that was not tried: the problem is stated as the other manifest would state it, and solved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TypeAlias

from usmp_build import effort
from usmp_build.errors import UsmpError
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.planner import by_name
from usmp_build.planner.memory.components import families, restricted
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.shortage import Fix, Shortage
from usmp_build.planner.memory.trials import Attempt, Trials
from usmp_build.request import InputOutput, Inputs, ModelRequest, Outputs, Request
from usmp_build.units import count_bytes, show_bytes

Restated: TypeAlias = tuple[Analysis, Plan | None]
"""What the passes find, and the first plan, if there is one already."""

Restate: TypeAlias = Callable[[Request], Restated | None]
"""What the passes would find if the manifest said something else; None: nothing that fits.

Raises UsmpError if it may not say that."""

_FINDERS = ("auto", "exact")
"""Algorithms that may find a plan where others do not."""

_SHOWN = 2
"""Most buffers named in a suggestion."""


def suggested_fixes(
    request: Request, analysis: Analysis, shortage: Shortage, attempt: Attempt, restate: Restate
) -> Iterator[Fix]:
    """Yield what makes a plan for the buffers of a shortage, apart from larger pools.  The work is bounded."""
    if not shortage.proven:
        yield from _other_algorithms(request, analysis.problem)
    if not shortage.core:
        return
    trials = Trials(attempt, effort.FIXES_TRIED)
    concerned = _pools_of_family(analysis.problem, shortage.core[0])
    for change in islice(_changes(request, analysis, shortage), effort.FIXES_STATED):
        if not trials.left(analysis.problem):
            return
        try:
            restated = restate(change.then)
        except UsmpError:
            continue
        if restated is None:
            continue
        after, plan = restated
        if plan is None or change.is_another_pool:  # which buffers go there depends on how good the plan is
            places = _solved(after.problem, concerned, trials)
        else:
            trials.charge(after.problem)
            places = dict(enumerate(plan.allocations))
        if places is not None:
            yield change.fix(_Outcome(analysis, after, places))


def _other_algorithms(request: Request, problem: Problem) -> Iterator[Fix]:
    for name in _FINDERS:
        if name != request.algorithm and Trials(by_name.algorithm(name, {}, ""), 1).plan(problem) is not None:
            yield Fix(0, f'write algorithm = "{name}", which finds a plan')
            return


@frozen
class _Outcome:
    """What becomes of the buffers when the manifest changes."""

    before: Analysis
    after: Analysis
    places: Mapping[int, Allocation]
    """Of the buffers of `after` that are connected, by candidate pools, with the pools that are too small."""


@frozen
class _Change:
    """Another manifest."""

    then: Request
    fix: Callable[[_Outcome], Fix]
    """Says what to do and what it costs, when there is a plan."""
    is_another_pool: bool = False


def _another_pool(request: Request, model: int, pool: int, key: str) -> _Change:
    """Let a model use one more pool, as its last resort; `key` is workspace_pools or constant_pools."""
    settings = request.models[model]
    if key == "constant_pools":
        more = replace(settings, constant_pools=(*settings.constant_pools, pool))
    else:
        more = replace(settings, workspace_pools=(*settings.workspace_pools, pool))

    def fix(outcome: _Outcome) -> Fix:
        after = outcome.after
        there = (index for index, place in outcome.places.items() if place.pool == pool)
        moved = [after.problem.buffers[i] for i in there if model in after.storage.buffers[i].models]
        total = sum(buffer.size for buffer in moved)
        who = f'let model "{settings.name}" use "{request.pools[pool].name}" too ({key})'
        if len(moved) > _SHOWN:
            return Fix(total, f"{who}: {len(moved)} buffers, {count_bytes(total)}, go there")
        named = " + ".join(f"{buffer.name} {show_bytes(buffer.size)}" for buffer in moved)
        return Fix(total, f"{who}: {named} {'goes' if len(moved) == 1 else 'go'} there" if moved else who)

    return _Change(request.with_model(model, more), fix, is_another_pool=True)


def _callers_arrays(request: Request, model: int) -> _Change:
    """Let the application bring the inputs and outputs of a model."""
    settings = request.models[model]
    brought = replace(settings, inputs=Inputs.CONSUMED, outputs=Outputs.RUN, io=InputOutput.APPLICATION)

    def workspace(analysis: Analysis) -> int:
        mine = (b for b in analysis.storage.buffers if b.kind is not Kind.CONSTANT and model in b.models)
        return sum(buffer.size for buffer in mine)

    def fix(outcome: _Outcome) -> Fix:
        saved = workspace(outcome.before) - workspace(outcome.after)
        kept = " and ".join(f"`{key}`" for key, _, _ in settings.retention_settings())
        who = f'write io = "application" for model "{settings.name}"' + (f", and leave {kept} out" if kept else "")
        return Fix(saved, f"{who}: its caller brings {count_bytes(saved)}")

    return _Change(request.with_model(model, brought), fix)


def _not_kept(request: Request, model: int, key: str, value: str, without: ModelRequest) -> _Change:
    """Let a model no longer keep its inputs, or its outputs, between runs."""

    def kept(analysis: Analysis) -> int:
        survivors = analysis.survivors
        buffers = survivors.always.union(*survivors.before, *survivors.after)
        return sum(analysis.storage.buffers[index].size for index in buffers)

    def fix(outcome: _Outcome) -> Fix:
        freed = kept(outcome.before) - kept(outcome.after)
        who = f'leave {key} = "{value}" out of model "{without.name}"'
        return Fix(freed, f"{who}: {count_bytes(freed)} are then not kept between runs")

    return _Change(request.with_model(model, without), fix)


def _not_concurrent(request: Request, pair: tuple[int, int], missing: int) -> _Change:
    """Let two models no longer run at the same time: sharing memory saves the bytes that do not fit, at least."""
    one, other = (request.models[model] for model in pair)
    overrides = [*one.overrides.get("concurrent", ()), *other.overrides.get("concurrent", ())]
    option = "--" if one.name in overrides or other.name in overrides else ""
    who = f'leave the pair "{one.name}" and "{other.name}" out of `{option}concurrent`'
    then = replace(request, concurrent=request.concurrent - {pair})
    return _change(then, f"{who}: they then take turns, and share memory", missing)


def _change(then: Request, words: str, saved: int = 0) -> _Change:
    """Return a change whose words and figure do not depend on the plan."""
    return _Change(then, lambda _: Fix(saved, words))


def _switched_on(request: Request, owners: list[int], constant: bool) -> Iterator[_Change]:
    """Yield keys that may be set otherwise; for constants, those that change which constants there are."""
    if not request.overlap and not constant:
        yield _change(replace(request, overlap=True), "leave overlap = false out of [plan]")
    if request.overlap and not request.rows and not constant:
        yield _change(replace(request, rows=True), "leave rows = false out of [plan]: layers then run row by row")
    for model in owners:
        settings = request.models[model]
        if not settings.free_order and not constant:
            then = request.with_model(model, replace(settings, free_order=True))
            yield _change(then, f'leave order = "file" out of model "{settings.name}"')
        if settings.rewrites_off:
            then = request.with_model(model, replace(settings, rewrites_off=frozenset()))
            names = ", ".join(f"{name} = true" for name in sorted(settings.rewrites_off))
            yield _change(then, f'write rewrites = {{ {names} }} for model "{settings.name}"')


def _changes(request: Request, analysis: Analysis, shortage: Shortage) -> Iterator[_Change]:
    """Yield what might help: what was switched off; pairs that take turns; then what each model asks for.

    Of models, those whose buffers do not fit, largest first.
    """
    constant = analysis.storage.buffers[shortage.core[0]].kind is Kind.CONSTANT
    word = "constant_pools" if constant else "workspace_pools"
    owners = _owners(analysis, shortage)
    yield from _switched_on(request, owners, constant)
    pairs = (pair for pair in sorted(request.concurrent) if not constant and set(pair) <= set(owners))
    yield from (_not_concurrent(request, pair, shortage.missing) for pair in islice(pairs, effort.FIXES_OF_PAIRS))
    for model in owners:
        settings = request.models[model]
        mine = settings.constant_pools if constant else settings.workspace_pools
        access = request.pools[mine[0]].access
        for pool, other in enumerate(request.pools):
            if other.access is access and pool not in mine:
                yield _another_pool(request, model, pool, word)
        if not constant and settings.io is InputOutput.POOL:
            yield from (_not_kept(request, model, *kept) for kept in settings.retention_settings())
            yield _callers_arrays(request, model)


def _owners(analysis: Analysis, shortage: Shortage) -> list[int]:
    bytes_of: Counter[int] = Counter()
    for index in shortage.core:
        for model in analysis.storage.buffers[index].models:
            bytes_of[model] += analysis.problem.buffers[index].size
    return sorted(bytes_of, key=lambda model: (-bytes_of[model], model))


def _pools_of_family(problem: Problem, member: int) -> frozenset[int]:
    family = next(family for family in families(problem) if member in family)
    return frozenset(pool for index in family for pool in problem.buffers[index].pools)


def _solved(problem: Problem, concerned: frozenset[int], trials: Trials) -> dict[int, Allocation] | None:
    """Return places for all buffers connected with these pools; None if there is no plan for them."""
    places: dict[int, Allocation] = {}
    for members in families(problem):
        if any(not concerned.isdisjoint(problem.buffers[index].pools) for index in members):
            part = restricted(problem, members)
            plan = trials.plan(part) if trials.left(part) else None
            if plan is None:
                return None
            places.update(zip(members, plan.allocations, strict=True))
    return places
