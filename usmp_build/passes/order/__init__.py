"""Searches for each model the order of its operators with the lowest peak of live bytes.

Each model and each step is considered separately, with the overlap that the better direction of its operator allows,
so the peak of an order is a lower bound for its plans.  Only planning shows whether a plan reaches it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.passes.effects import bits_of, members_of
from usmp_build.passes.order.below import Below, orders_below
from usmp_build.passes.order.edge_rows import EdgeRows
from usmp_build.passes.order.jobs import jobs_of
from usmp_build.passes.order.lazy import Lazy
from usmp_build.passes.order.search import best_order, fullest_job
from usmp_build.passes.order.states import Jobs, States, bytes_of, confined
from usmp_build.planner.memory.pressure import pressure
from usmp_build.request import Request

__all__ = [
    "Below",
    "ModelOrders",
    "least_bytes",
    "least_workspace",
    "model_orders",
    "orders_of_model",
    "workspace_always",
]


@dataclass(frozen=True, slots=True)
class ModelOrders:
    """The result of the search for one model; orders are of the operators of main that run."""

    best: tuple[int, ...] | None
    """The best order of the search; None: that is the file's order."""
    best_peak: int
    """The bytes alive at the fullest step of that order, without persistent buffers."""
    bound: int
    """Bytes that every order needs, whatever the directions, without persistent buffers."""
    floor: int
    """Bytes that are alive when a run begins, or when it ends, without persistent buffers."""
    operators: tuple[int, ...]
    """The operators in the order of the file."""
    jobs: Jobs | None = field(repr=False)
    """None: the operators must stay in the order of the file."""

    def stretches(self, most: int) -> tuple[tuple[int, ...], ...]:
        """Return the operators in stretches with a peak of at most `most` bytes; empty if no lazy order has one.

        A stretch of one operator is to run as a whole; others name each operator once for each of its jobs.
        """
        if self.jobs is None:
            return ()
        stretches = Lazy(self.jobs, self.operators).shortest(most + 1)
        named = (tuple(self.operators[job] for job in each.jobs) for each in stretches)
        return tuple(each if len({*each}) > 1 else each[:1] for each in named)

    def below(self, limit: int | None, most: int) -> Below:
        """Return up to `most` orders with a peak below `limit` bytes (None: no limit), lowest peaks first."""
        if self.jobs is None:
            return Below((), are_all=False)
        below = orders_below(self.jobs, 1 + sum(self.jobs.sizes) if limit is None else limit, most)
        orders = (replace(each, order=tuple(self.operators[job] for job in each.order)) for each in below.orders)
        return Below(tuple(orders), below.are_all)


def model_orders(request: Request, analysis: Analysis) -> tuple[ModelOrders | None, ...]:
    """Search the orders of each model; None for one without operators.  `analysis` must be of the files' orders."""
    return tuple(orders_of_model(request, analysis, index) for index in range(len(request.models)))


def orders_of_model(request: Request, analysis: Analysis, index: int, enough: int = 0) -> ModelOrders | None:
    """Search the orders of one model as `model_orders` does; a peak of `enough` bytes ends the search."""
    if not analysis.models[index].main.operators:
        return None
    jobs, operators = jobs_of(analysis, index)
    has_rows = _has_rows(operators)
    best = best_order(jobs, seeds=[Lazy(jobs, operators).lowest()] if has_rows else [], enough=enough)
    if has_rows and request.models[index].recompute:
        best = replace(best, bound=fullest_job(jobs))  # an order in which rows are computed again may need less
    floor = max(bytes_of(jobs.sizes, ports) for ports in (jobs.before, jobs.after))
    if not request.models[index].free_order:
        return ModelOrders(None, best.peak, best.bound, floor, operators, None)
    order = tuple(operators[job] for job in best.order)
    return ModelOrders(None if order == operators else order, best.peak, best.bound, floor, operators, jobs)


def least_workspace(analysis: Analysis, orders: Iterable[ModelOrders | None]) -> int:
    """Return a lower bound on bytes of workspace for these buffers, whatever the orders and directions."""
    needs = (
        _least_of_program(analysis, analysis.storage.workspace, index) if each is None else each.bound
        for index, each in enumerate(orders)
    )
    return workspace_always(analysis) + max(needs, default=0)


def least_bytes(request: Request, ways: Sequence[tuple[Analysis, Collection[int]]]) -> int:
    """Return a lower bound on the bytes that workspace buffers need in total, whatever the orders and directions.

    `ways` has an analysis for each way in which each model may run, all of the same firmware, and which of its buffers
    count.  Concurrent models need their bytes side by side.
    """
    of_ways = [(analysis, frozenset(members)) for analysis, members in ways]
    needs = [
        min(_least_of_model(request, analysis, members, index) for analysis, members in of_ways)
        for index in range(len(request.models))
    ]
    analysis, counted = of_ways[0]
    buffers = analysis.storage.buffers
    mixed = {model for index in counted if len(buffers[index].models) > 1 for model in buffers[index].models}
    always = sum(buffers[index].extent for index in counted.intersection(analysis.survivors.always))
    return always + max((_together(request, needs, first, mixed) for first in range(len(needs))), default=0)


def _together(request: Request, needs: Sequence[int], first: int, mixed: Collection[int]) -> int:
    """Return the bytes that `first` and models concurrent with it need; those in `mixed` share buffers."""
    group = [first]
    for model in sorted(range(len(needs)), key=lambda model: (-needs[model], model)):
        if first not in mixed and model not in mixed and all(request.are_concurrent(model, each) for each in group):
            group.append(model)
    return sum(needs[model] for model in group)


def _least_of_model(request: Request, analysis: Analysis, members: frozenset[int], index: int) -> int:
    """Return the same bound for one model, without persistent buffers."""
    if not analysis.models[index].main.operators:
        return _least_of_program(analysis, members, index)
    all_jobs, operators = jobs_of(analysis, index)
    rows = EdgeRows(analysis)
    jobs = confined(all_jobs, frozenset(members_of(rows.all(bits_of(members)))))
    if request.models[index].recompute and _has_rows(operators):
        return fullest_job(jobs)
    if request.models[index].free_order:
        return best_order(jobs).bound
    return States(jobs).along(range(len(operators))).peak


def _least_of_program(analysis: Analysis, members: Collection[int], index: int) -> int:
    """Return the same bound for a program, whose statements have one order."""
    counted = (i for i in members if i not in analysis.survivors.always and index in analysis.storage.buffers[i].models)
    return pressure(analysis.problem, counted).bytes


def workspace_always(analysis: Analysis) -> int:
    """Return the bytes of workspace in buffers that are always alive."""
    buffers = (analysis.storage.buffers[index] for index in analysis.survivors.always)
    return sum(buffer.extent for buffer in buffers if buffer.kind is not Kind.CONSTANT)


def _has_rows(operators: Sequence[int]) -> bool:
    """Tell whether operators that each job names run row by row."""
    return len({*operators}) < len(operators)
