"""Analysis → for each model the order of its operators in which fewest bytes are alive at once.

It looks at one model at a time, and at each step by itself, with as much overlap as the better direction of its
operator allows: no plan of that model needs less.  Whether a plan needs as little, the algorithm tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.passes.order.jobs import jobs_of
from usmp_build.passes.order.search import best_order, in_file_order
from usmp_build.request import Request

__all__ = ["ModelOrder", "least_workspace", "model_orders"]


@dataclass(frozen=True, slots=True)
class ModelOrder:
    """What is known of the orders of one model."""

    order: tuple[int, ...] | None
    """Operators of main; None: the file's is as good as any that was found."""
    least: int
    """Bytes without which no order does, whatever the directions; less those that are alive whatever runs."""


def model_orders(request: Request, analysis: Analysis) -> tuple[ModelOrder | None, ...]:
    """Search the orders of each model; None for a program.  `analysis` is of the files' orders."""
    return tuple(_searched(request, analysis, index) for index in range(len(request.models)))


def least_workspace(analysis: Analysis, orders: Iterable[ModelOrder | None]) -> int:
    """Return bytes of workspace without which no orders and no directions do, for the same buffers."""
    buffers = (analysis.storage.buffers[index] for index in analysis.survivors.always)
    always = sum(buffer.extent for buffer in buffers if buffer.kind is not Kind.CONSTANT)
    return always + max((each.least for each in orders if each is not None), default=0)


def _searched(request: Request, analysis: Analysis, index: int) -> ModelOrder | None:
    if analysis.models[index].is_program:
        return None
    jobs, operators = jobs_of(request, analysis, index)
    found = best_order(jobs) if request.models[index].free_order else in_file_order(jobs)
    if found.order == tuple(range(len(operators))):
        return ModelOrder(None, found.least)
    return ModelOrder(tuple(operators[job] for job in found.order), found.least)
