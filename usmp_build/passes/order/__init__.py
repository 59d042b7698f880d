"""Searches for each model the order of its operators with the lowest peak of live bytes.

Each model and each step is considered separately, with the overlap that the better direction of its operator allows,
so the peak of an order is a lower bound for its plans.  Only planning shows whether a plan reaches it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.passes.order.below import Below, orders_below
from usmp_build.passes.order.jobs import jobs_of
from usmp_build.passes.order.search import beam_order, best_order, fullest_job
from usmp_build.passes.order.states import Jobs, States, confined
from usmp_build.planner.memory.pressure import pressure
from usmp_build.request import Request

__all__ = ["Below", "ModelOrders", "least_bytes", "least_workspace", "model_orders", "workspace_always"]


@dataclass(frozen=True, slots=True)
class ModelOrders:
    """The result of the search for one model; orders are of the operators of main that run."""

    best: tuple[int, ...] | None
    """The best order of the search; None: that is the file's order."""
    best_peak: int
    """The bytes alive at the fullest step of that order, without persistent buffers."""
    bound: int
    """Bytes that every order needs, whatever the directions, without persistent buffers."""
    operators: tuple[int, ...]
    """The operators in the order of the file."""
    jobs: Jobs | None = field(repr=False)
    """None: the operators must stay in the order of the file."""

    def another(self) -> tuple[int, ...] | None:
        """Return a further order with the peak of the best one, or a lower one; None if a beam search finds none."""
        if self.jobs is None:
            return None
        order = beam_order(self.jobs, self.best_peak)
        named = None if order is None else tuple(self.operators[job] for job in order)
        return None if named == (self.best or self.operators) else named

    def below(self, limit: int | None, most: int) -> Below:
        """Return up to `most` orders with a peak below `limit` bytes (None: no limit), lowest peaks first."""
        if self.jobs is None:
            return Below((), are_all=False)
        below = orders_below(self.jobs, 1 + sum(self.jobs.sizes) if limit is None else limit, most)
        orders = (replace(each, order=tuple(self.operators[job] for job in each.order)) for each in below.orders)
        return Below(tuple(orders), below.are_all)


def model_orders(request: Request, analysis: Analysis) -> tuple[ModelOrders | None, ...]:
    """Search the orders of each model; None for a program.  `analysis` must be of the files' orders."""
    return tuple(_orders_of_model(request, analysis, index) for index in range(len(request.models)))


def least_workspace(analysis: Analysis, orders: Iterable[ModelOrders | None]) -> int:
    """Return a lower bound on bytes of workspace for these buffers, whatever the orders and directions."""
    return workspace_always(analysis) + max((each.bound for each in orders if each is not None), default=0)


def least_bytes(request: Request, analysis: Analysis, members: Collection[int]) -> int:
    """Return a lower bound on the bytes that these workspace buffers need in total, whatever the orders and directions.

    Concurrent models need theirs side by side.
    """
    counted = frozenset(members)
    needs = [_least_of_model(request, analysis, counted, index) for index in range(len(request.models))]
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
    if analysis.models[index].is_program:  # its statements have one order
        of_model = (i for i in members - analysis.survivors.always if index in analysis.storage.buffers[i].models)
        return pressure(analysis.problem, of_model).bytes
    if index in analysis.choices.recomputed:  # jobs occur twice: a buffer by itself is alive in any order
        of_members = (analysis.storage.buffers[i] for i in members - analysis.survivors.always)
        return max((buffer.extent for buffer in of_members if index in buffer.models), default=0)
    all_jobs, operators = jobs_of(request, analysis, index)
    jobs = confined(all_jobs, members)
    if request.models[index].free_order:
        return best_order(jobs).bound
    return States(jobs).along(range(len(operators))).peak


def workspace_always(analysis: Analysis) -> int:
    """Return the bytes of workspace in buffers that are always alive."""
    buffers = (analysis.storage.buffers[index] for index in analysis.survivors.always)
    return sum(buffer.extent for buffer in buffers if buffer.kind is not Kind.CONSTANT)


def _orders_of_model(request: Request, analysis: Analysis, index: int) -> ModelOrders | None:
    if analysis.models[index].is_program:
        return None
    jobs, operators = jobs_of(request, analysis, index)
    best = best_order(jobs)
    if request.rows and request.models[index].recompute:
        best = replace(best, bound=fullest_job(jobs))  # an order in which rows are computed again may need less
    if not request.models[index].free_order:
        return ModelOrders(None, best.peak, best.bound, operators, None)
    order = tuple(operators[job] for job in best.order)
    return ModelOrders(None if order == operators else order, best.peak, best.bound, operators, jobs)
