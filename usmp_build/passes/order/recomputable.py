"""Finds the rows of a model that may be computed again, and an order in which they are.

Rows that may be:  those of a tensor with a buffer for each, which a kernel computes from other rows by itself; no sums
                   over rows, and no input or output of the model
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, Reduce
from usmp_build.interfaces.row_jobs import row_call
from usmp_build.ir.graph import OperatorRef
from usmp_build.passes.effects import members_of
from usmp_build.passes.order.jobs import jobs_of
from usmp_build.passes.order.recompute import Rows, recomputed_order
from usmp_build.passes.order.states import Jobs
from usmp_build.passes.rewrite.work import operator_macs
from usmp_build.request import Request


@dataclass(frozen=True, slots=True)
class Recomputed:
    """An order in which a model computes rows again."""

    operators: tuple[int, ...]
    numbers: tuple[int, ...]
    """For each operator in the order which of its jobs it is."""
    peak: int
    """The bytes alive at its fullest job, without persistent buffers."""
    more: Fraction
    """The work of jobs that run again, as a part of that of all jobs."""


def recomputed(request: Request, analysis: Analysis, index: int) -> Recomputed | None:
    """Return an order in which a model computes rows again, for as much more work as its request allows.

    None where the search has none.  `analysis` must be row by row, in the order of the file.
    """
    jobs, operators = jobs_of(analysis, index)
    rows = recomputable_rows(analysis, index, jobs, operators)
    all_work = sum(rows.work)
    order = recomputed_order(jobs, rows, all_work * (100 + request.models[index].recompute) // 100)
    if order is None:
        return None
    return Recomputed(*numbered(operators, order.order), order.peak, Fraction(order.work - all_work, max(1, all_work)))


def recomputable_rows(analysis: Analysis, index: int, jobs: Jobs, operators: tuple[int, ...]) -> Rows:
    """Return the rows of a model that may be computed again; `operators` are those of its jobs."""
    tensors = {rows.start: rows for rows in _rows(analysis, index)}
    work = tuple(_work(analysis, OperatorRef(index, 0, operator)) for operator in operators)
    return Rows(tensors, _writers(jobs, tensors), work)


def numbered(operators: tuple[int, ...], order: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return an order of jobs as operators and numbers; `operators` are those of all jobs, in turn."""
    counts: Counter[int] = Counter()
    numbers = []
    for operator in operators:
        numbers.append(counts[operator])
        counts[operator] += 1
    return tuple(operators[job] for job in order), tuple(numbers[job] for job in order)


def _rows(analysis: Analysis, index: int) -> Iterator[range]:
    graph = analysis.models[index].main
    for tensor in analysis.choices.by_rows.tables:
        if tensor.model == index:
            kernel = analysis.kernel_of(OperatorRef(index, 0, graph.producers[tensor.tensor]))
            call = row_call(kernel) if isinstance(kernel, Kernel) else None
            if call is not None and not isinstance(call.form, Reduce):
                yield analysis.storage.buffers_of(tensor)


def _writers(jobs: Jobs, tensors: dict[int, range]) -> dict[int, int]:
    rows = sum(((1 << len(span)) - 1) << first for first, span in tensors.items())
    return {row: number for number, job in enumerate(jobs.jobs) for row in members_of(job.writes & rows)}


def _work(analysis: Analysis, ref: OperatorRef) -> int:
    """Return the multiplications of each job of an operator; of one without any, the elements of its outputs."""
    graph = analysis.models[ref.model].main
    op = graph.operators[ref.operator]
    elements = sum(graph.tensors[tensor].elements for tensor in op.outputs)
    return (operator_macs(op, graph) or elements) // analysis.choices.jobs(ref)
