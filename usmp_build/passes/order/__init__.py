"""Analysis → for each model the order of its operators in which fewest bytes are alive at once.

It looks at one model at a time, and at each step by itself, with as much overlap as the better direction of its
operator allows: no plan of that model needs less.  Whether a plan needs as little, the algorithm tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.passes.order.below import Below, orders_below
from usmp_build.passes.order.jobs import jobs_of
from usmp_build.passes.order.search import best_order
from usmp_build.passes.order.states import Jobs
from usmp_build.request import Request

__all__ = ["Below", "ModelOrders", "least_workspace", "model_orders", "workspace_always"]


@dataclass(frozen=True, slots=True)
class ModelOrders:
    """What is known of the orders of one model: its operators of main that run, one after the other."""

    best: tuple[int, ...] | None
    """None: the file's order is as good as any that was found."""
    bound: int
    """Bytes without which no order does, whatever the directions; less those that are alive whatever runs."""
    operators: tuple[int, ...]
    """In the order of the file."""
    jobs: Jobs | None = field(repr=False)
    """None: they must stay in this order."""

    def below(self, limit: int | None, most: int) -> Below:
        """Return up to `most` orders in which fewer bytes than `limit` are alive, if there is one; the fewest first."""
        if self.jobs is None:
            return Below((), are_all=False)
        found = orders_below(self.jobs, 1 + sum(self.jobs.sizes) if limit is None else limit, most)
        named = (replace(each, order=tuple(self.operators[job] for job in each.order)) for each in found.orders)
        return Below(tuple(named), found.are_all)


def model_orders(request: Request, analysis: Analysis) -> tuple[ModelOrders | None, ...]:
    """Search the orders of each model; None for a program.  `analysis` is of the files' orders."""
    return tuple(_searched(request, analysis, index) for index in range(len(request.models)))


def least_workspace(analysis: Analysis, orders: Iterable[ModelOrders | None]) -> int:
    """Return bytes of workspace without which no orders and no directions do, for the same buffers."""
    return workspace_always(analysis) + max((each.bound for each in orders if each is not None), default=0)


def workspace_always(analysis: Analysis) -> int:
    """Return the bytes of workspace that are alive whatever runs."""
    buffers = (analysis.storage.buffers[index] for index in analysis.survivors.always)
    return sum(buffer.extent for buffer in buffers if buffer.kind is not Kind.CONSTANT)


def _searched(request: Request, analysis: Analysis, index: int) -> ModelOrders | None:
    if analysis.models[index].is_program:
        return None
    jobs, operators = jobs_of(request, analysis, index)
    found = best_order(jobs)
    if not request.models[index].free_order:
        return ModelOrders(None, found.bound, operators, None)
    best = tuple(operators[job] for job in found.order)
    return ModelOrders(None if best == operators else best, found.bound, operators, jobs)
