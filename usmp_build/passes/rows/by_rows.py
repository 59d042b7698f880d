"""Finds the operators that can run row by row, and the tensors between them that can have a buffer for each row.

Operators that can     of main, with one image, whose kernel has accesses and one call for each row; they neither touch
                       state nor anything that has parts, pixel strides, or rows in memory of pages
Tensors that can       only such operators touch them, also through views, all with rows of the same length
Inputs and outputs     stay in one piece, except those that the application gives or gets row by row
Operators that do      those that touch such a tensor

Of these, `in_stretches` makes those whole that need not take turns with others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain

from usmp_build import effort
from usmp_build.interfaces.analysis import Analysis, Kernels
from usmp_build.interfaces.kernels import Input, Kernel, NoKernel, Output, Rows
from usmp_build.interfaces.row_jobs import RowJobs, row_jobs
from usmp_build.ir.axes import RowTable
from usmp_build.ir.by_rows import ByRows
from usmp_build.ir.graph import Operator, OperatorRef, TensorRef
from usmp_build.ir.schedule import Direction
from usmp_build.operators.table import traits
from usmp_build.passes.rows.ports import row_ports
from usmp_build.passes.state import touches_state
from usmp_build.request import Goal, Request

Shape = tuple[int, int]
"""Rows of a tensor, and elements of one."""


def by_rows(request: Request, analysis: Analysis, index: int) -> ByRows:
    """Return all operators of a model that can run row by row, and the tensors that can have rows."""
    model = analysis.models[index]
    if not request.overlap:
        return ByRows()
    candidates = Candidates(request, analysis, index)
    possible = dict(candidates.jobs())
    streamed = candidates.streamed(possible)
    from_outside = row_ports(request.models[index], model.main) - model.main.roots.keys()
    in_one_piece = set(map(model.main.root, (*model.main.inputs, *model.main.outputs))) - from_outside
    tables = {
        ref: candidates.from_outside(ref, table, possible) if ref.tensor in from_outside else table
        for ref, table in streamed.items()
        if ref.tensor not in in_one_piece and (ref.tensor not in from_outside or candidates.has_one_pool(ref))
    }
    jobs = {ref: each.count for ref, each in possible.items() if not tables.keys().isdisjoint(candidates.touched(ref))}
    at_once = set(chain.from_iterable(candidates.touched(ref) for ref in possible.keys() - jobs.keys()))
    ports = {ref: table for ref, table in streamed.items() if ref.tensor in in_one_piece}
    return ByRows(jobs, tables, _edges(ports, at_once))


def _edges(ports: Mapping[TensorRef, RowTable], touched_whole: Set[TensorRef]) -> dict[TensorRef, RowTable]:
    """Return the inputs and outputs in one piece that are touched by rows only."""
    coarse = {ref: _coarse(table, effort.EDGE_ROWS) for ref, table in ports.items() if ref not in touched_whole}
    return {ref: table for ref, table in coarse.items() if table is not None}


def _coarse(table: RowTable, most: int, least: int = 1) -> RowTable | None:
    """Return the rows of a tensor, `least` or more as one, so that there are `most`; None if they cannot be divided."""
    least = max(least, -(-table.rows // most))
    numbers = range(least, min(table.rows // 2, least + most) + 1)
    at_once = next((number for number in numbers if table.rows % number == 0), None)
    return None if at_once is None else replace(table, rows=table.rows // at_once, elements=table.elements * at_once)


def in_stretches(rows: ByRows, analysis: Analysis, index: int, stretches: Iterable[Sequence[int]]) -> ByRows:
    """Return what is left of the rows of a model where operators that are a stretch by themselves run as a whole.

    A tensor that is written in one stretch and read in another one is complete in between, and so in one piece.
    """
    stretch_of = {operator: n for n, each in enumerate(stretches) if len(each) > 1 for operator in each}
    jobs = {ref: count for ref, count in rows.jobs.items() if ref.operator in stretch_of}
    in_jobs = {ref.operator: stretch_of[ref.operator] for ref in jobs if ref.model == index}
    touching = _touching(analysis, index, in_jobs)
    tables = {ref: table for ref, table in rows.tables.items() if len(touching[ref]) == 1 and None not in touching[ref]}
    others = {ref: table for ref, table in {**rows.tables, **rows.edges}.items() if ref not in tables}
    return ByRows(jobs, tables, {ref: table for ref, table in others.items() if touching[ref] != {None}})


def _touching(analysis: Analysis, index: int, stretch_of: Mapping[int, int]) -> dict[TensorRef, set[int | None]]:
    """Return the stretches that touch each tensor of a model; None stands for operators that run as a whole."""
    touching: dict[TensorRef, set[int | None]] = {}
    graph = analysis.models[index].main
    for number, op in enumerate(graph.operators):
        for tensor in (*op.inputs, *op.outputs):
            if tensor is not None and op.runs:
                touching.setdefault(TensorRef(index, 0, graph.root(tensor)), set()).add(stretch_of.get(number))
    return touching


def row_kernels(kernels: Kernels, choice: ByRows) -> Kernels:
    """Return the kernels where operators that run row by row have the one that does."""
    if not choice.jobs:
        return kernels
    return {ref: _row_kernel(kernel) if ref in choice.jobs else kernel for ref, kernel in kernels.items()}


def _row_kernel(kernel: Kernel | NoKernel) -> Kernel | NoKernel:
    return kernel.by_rows or kernel if isinstance(kernel, Kernel) else kernel


class Candidates:
    """The operators of a model that can run row by row, and the tensors that can have rows."""

    def __init__(self, request: Request, analysis: Analysis, index: int) -> None:
        """Look at the main subgraph of model `index`."""
        self._request = request
        self._analysis = analysis
        self._index = index
        self._graph = analysis.models[index].main

    def jobs(self) -> Iterator[tuple[OperatorRef, RowJobs]]:
        """Yield the operators that can run row by row, each with its jobs."""
        for number, op in enumerate(self._graph.operators):
            ref = OperatorRef(self._index, 0, number)
            kernel = self._analysis.kernels.get(ref)
            if isinstance(kernel, Kernel) and self._is_free(ref, op):
                by_rows = kernel.by_rows or kernel
                if kernel.by_rows and by_rows.slower and self._request.models[self._index].goal is Goal.BALANCED:
                    continue
                jobs = [row_jobs(by_rows.towards(direction)) for direction in Direction]
                if (forward := jobs[0]) is not None and None not in jobs:
                    yield ref, forward

    def touched(self, ref: OperatorRef) -> list[TensorRef]:
        """Return the tensors that an operator touches, in place of their views."""
        op = self._graph.operators[ref.operator]
        touched = (tensor for tensor in (*op.inputs, *op.outputs) if tensor is not None)
        return [TensorRef(self._index, 0, self._graph.root(tensor)) for tensor in touched]

    def _is_free(self, ref: OperatorRef, op: Operator) -> bool:
        """Tell whether other operators may run between the rows of an operator."""
        tensors = {tensor for tensor in (*op.inputs, *op.outputs) if tensor is not None}
        is_moved = any(each in self._graph.parts or each in self._graph.pitches for each in tensors)
        is_paged = any(each in self._analysis.axes for each in self.touched(ref))
        has_effect = not traits(op.kind).is_pure or touches_state(op, self._graph)
        return not (is_moved or is_paged or has_effect or ref in self._analysis.storage.transfers)

    def streamed(self, jobs: Mapping[OperatorRef, RowJobs]) -> dict[TensorRef, RowTable]:
        """Return the tensors that are touched row by row only, all with rows of the same length."""
        with_parts = set(map(self._graph.root, self._graph.parts))
        shapes: dict[int, set[Shape | None]] = {}
        for number, op in enumerate(self._graph.operators):
            divided = jobs.get(OperatorRef(self._index, 0, number))
            streamed = divided.shapes if divided else {}
            for side, tensors in ((Input, op.inputs), (Output, op.outputs)):
                for position, tensor in enumerate(tensors):
                    if tensor is not None and op.runs:
                        shapes.setdefault(self._graph.root(tensor), set()).add(streamed.get(side(position)))
        return {
            TensorRef(self._index, 0, tensor): RowTable(*shape, page=1)
            for tensor, of_tensor in shapes.items()
            if len(of_tensor) == 1 and (shape := next(iter(of_tensor))) is not None
            if tensor not in with_parts and shape[0] > 1 and self._is_planned(tensor)
        }

    def from_outside(self, ref: TensorRef, table: RowTable, jobs: Mapping[OperatorRef, RowJobs]) -> RowTable:
        """Return the rows of an input or output from outside: of a signal that arrives, each is several samples.

        They are as many as its readers move on by, or more, so that few rows arrive.
        """
        strides = [*self._strides(ref.tensor, table.elements, jobs)] if ref.tensor in self._graph.inputs else []
        return (_coarse(table, effort.ARRIVALS, max(strides)) if strides else None) or table

    def _strides(self, root: int, channels: int, jobs: Mapping[OperatorRef, RowJobs]) -> Iterator[int]:
        """Yield by how many samples each reader of a signal moves on; nothing if a row has several pixels."""
        for number, op in enumerate(self._graph.operators):
            divided = jobs.get(OperatorRef(self._index, 0, number))
            read = {tensor for tensor in op.inputs if tensor is not None and self._graph.root(tensor) == root}
            if divided and any(self._graph.tensors[tensor].shape[-1:] == (channels,) for tensor in read):
                form = divided.calls[0].form
                yield form.stride if isinstance(form, Rows) else 1

    def _is_planned(self, tensor: int) -> bool:
        buffer = self._analysis.storage.tensors.get(TensorRef(self._index, 0, tensor))
        return buffer is not None and len(self._analysis.storage.buffers[buffer].models) == 1

    def has_one_pool(self, ref: TensorRef) -> bool:
        """Tell whether all rows of a tensor will be in the same pool, so that one base address will do."""
        buffer = self._analysis.storage.tensors.get(ref)
        return buffer is None or len(self._analysis.storage.buffers[buffer].pools) == 1
