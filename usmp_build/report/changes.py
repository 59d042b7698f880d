"""What the firmware would take after one change of its manifest: each is planned as if the manifest said so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from usmp_build import effort
from usmp_build.errors import UsmpError
from usmp_build.frozen import frozen
from usmp_build.ir.storage import Kind
from usmp_build.layout import Summary
from usmp_build.planner.memory.limits import cheaper_elsewhere
from usmp_build.planner.memory.plan import peaks
from usmp_build.report.cost_row import cost_row
from usmp_build.request import Access, Request
from usmp_build.search.limits import Fitted, fit
from usmp_build.search.operator_order import BestCandidate, has_one_pool
from usmp_build.search.replanner import Replanner
from usmp_build.units import align_up, show_bytes

_STEP = 1024
"""Bytes by which limits change."""


@frozen
class Change:
    """The firmware after one change of its manifest."""

    what: str
    workspace: int | None
    """Bytes of all workspace pools together; None: it does not fit."""
    cost: int | None
    """Of the plan, in the unit of its cost; None: it does not fit, or other models run."""
    is_same_plan: bool = False
    """Whether this plan is as good after the change, so that nothing was planned again."""


@frozen
class _Other:
    """Another manifest: what it says, and as a request.  None: the plan is as good there."""

    what: str
    request: Request | None
    model: int | None = None
    """The only model that is different."""
    is_without: bool = False
    """Whether it lacks this model."""


def changes(replanner: Replanner, fitted: Fitted, summary: Summary, alone: Sequence[int]) -> tuple[Change, ...]:
    """Plan without each model, without rows, with the largest input by rows, and with each limit a KiB less and more.

    Only the first changes are planned, and none that the manifest may not say.  `alone` has the bytes of workspace of
    each model by itself: where models take turns in one pool, they need as much as the one that needs most.
    """
    apart = alone if _take_turns(replanner.request, fitted.chosen) else ()
    others = _others(replanner.request, fitted, summary)
    planned = (_planned(replanner, summary, other, apart) for other in islice(others, effort.CHANGES))
    return tuple(change for change in planned if change is not None)


def _take_turns(request: Request, chosen: BestCandidate) -> bool:
    """Tell whether models share nothing but the bytes of a pool for workspace only, and whether places cost nothing."""
    problem, storage = chosen.analysis.problem, chosen.analysis.storage
    workspace = {
        index
        for index, buffer in enumerate(problem.buffers)
        if any(request.pools[pool].access is Access.WORKSPACE for pool in buffer.pools)
    }
    users = [buffer.models for buffer in storage.buffers]
    return (
        has_one_pool(chosen.analysis)
        and workspace == {*storage.workspace}
        and all(users[i] == users[other] for i in workspace for other in workspace.intersection(problem.conflicts[i]))
        and not any(cost for buffer in problem.buffers for cost in buffer.costs)
    )


def _others(request: Request, fitted: Fitted, summary: Summary) -> Iterator[_Other]:
    if len(request.models) > 1:
        for index, model in enumerate(request.models):
            yield _Other(f"without model {model.name}", request.without_model(index), index, is_without=True)
    if request.rows:
        yield _Other("[plan] rows = false", request.layer_by_layer())
    else:
        yield _Other("[plan] rows = true", replace(request, rows=True))
    yield from _inputs_by_rows(request, fitted)
    chosen = fitted.chosen
    is_cheapest = chosen.plan is not None and not cheaper_elsewhere(chosen.analysis.problem, chosen.plan)
    for index, (pool, row) in enumerate(zip(request.pools, summary.pools, strict=True)):
        if pool.limit is not None:
            step = align_up(_STEP, pool.page or 1)
            less, more = pool.limit - step, pool.limit + step
            if less > 0:
                yield _limited(request, index, less, is_same=row.size <= less)
            yield _limited(request, index, more, is_same=is_cheapest)


def _limited(request: Request, index: int, limit: int, *, is_same: bool) -> _Other:
    pool = request.pools[index]
    difference = limit - (pool.limit or 0)
    what = f"[pools.{pool.name}] size {'+' if difference > 0 else '−'} {show_bytes(abs(difference))}"
    pools = (*request.pools[:index], replace(pool, limit=limit), *request.pools[index + 1 :])
    return _Other(what, None if is_same else replace(request, pools=pools))


def _inputs_by_rows(request: Request, fitted: Fitted) -> Iterator[_Other]:
    """Yield the manifest in which the largest input in a pool arrives row by row."""
    buffers = fitted.chosen.analysis.storage.buffers
    inputs = [(buffer.size, -buffer.models[0]) for buffer in buffers if buffer.kind is Kind.INPUT]
    if inputs and request.rows:
        index = -max(inputs)[1]
        model = request.models[index]
        by_rows = replace(model, inputs_by_rows=model.span or model.name, recompute=0)
        if not model.inputs_by_rows:
            yield _Other(f'[models.{model.name}] inputs = "rows"', request.with_model(index, by_rows), index)


def _planned(replanner: Replanner, summary: Summary, other: _Other, apart: Sequence[int]) -> Change | None:
    """Plan another manifest; None if it may not say that."""
    if other.request is None:
        return Change(other.what, summary.workspace.achieved, summary.cost.total, is_same_plan=True)
    rest = max((bytes_ for index, bytes_ in enumerate(apart) if index != other.model), default=0)
    variant = replanner.asking(other.request)
    if other.is_without:
        if apart:
            return Change(other.what, rest, None)
        models = (model for index, model in enumerate(replanner.models) if index != other.model)
        variant = replace(variant, models=tuple(models))
    elif other.model is not None and apart:
        variant = variant.of_model(other.model)
    return _change(variant, other, 0 if other.model is None else rest)


def _change(variant: Replanner, other: _Other, rest: int) -> Change | None:
    """Plan a variant; other models take `rest` bytes of workspace at other times."""
    try:
        chosen = fit(variant).chosen
    except UsmpError:
        return None
    if chosen.plan is None:
        return Change(other.what, None, None)
    sizes = zip(variant.request.pools, peaks(chosen.analysis.problem, chosen.plan), strict=True)
    workspace = sum(size for pool, size in sizes if pool.access is Access.WORKSPACE)
    cost = None if other.is_without else cost_row(variant.request, chosen.analysis, chosen.plan).total
    return Change(other.what, max(workspace, rest), cost)
