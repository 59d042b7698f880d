"""Divides the calls of a kernel into jobs, one for each row, and tells which rows a job reads and writes.

    Rows      a job for each output row; it reads the input rows under the window that are inside the image
    Reduce    a job for each input row; the first one begins, the last one finishes and writes the output
    Pieces    a job for each piece; it reads and writes that piece of every operand that has pieces

A job of a kernel with several calls in pieces makes all of these calls for its row.

The jobs of a call that is `backward` begin with the last row, except those of a reduction whose order matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import Absent, Derived, Kernel, KernelCall, Operand, Output, Pieces, Reduce, Rows


@frozen
class RowJobs:
    """The calls that each job makes, in order."""

    calls: tuple[KernelCall, ...]
    shapes: Mapping[Operand, tuple[int, int]]
    """Operands that every call gets row by row, each with the number of its rows and the elements of one.

    The output of a reduction is not among them: it is written at once."""

    @property
    def count(self) -> int:
        """The number of jobs."""
        return _count(self.calls[0])

    @property
    def adds_up(self) -> bool:
        """Whether jobs consume the rows of a reduction, and the last one writes the output."""
        return isinstance(self.calls[0].form, Reduce)

    def row_of(self, job: int) -> int:
        """Return the row that a job computes, or consumes for a reduction."""
        return job if goes_forward(self.calls[0]) else self.count - 1 - job

    def rows_touched(self, operand: Operand, job: int) -> Sequence[int]:
        """Return the rows of an operand of `shapes` that a job reads or writes, ascending."""
        row, form = self.row_of(job), self.calls[0].form
        if not isinstance(form, Rows) or isinstance(operand, Output):
            return range(row, row + 1)
        begin = form.first_row(row)
        window = range(begin, begin + form.window * form.dilation, form.dilation)
        skipped = max(0, -(begin // form.dilation))
        return range(begin + skipped * form.dilation, min(window.stop, form.input_rows), form.dilation)


@lru_cache(maxsize=4096)
def row_jobs(kernel: Kernel) -> RowJobs | None:
    """Return the jobs of a kernel; None if it cannot be divided."""
    calls = kernel.calls
    if not calls or kernel.updates or any(call.accesses is None or call.prototype for call in calls):
        return None
    alike = len(calls) == 1 or len({(type(call.form), call.backward, _count(call)) for call in calls}) == 1
    in_pieces = len(calls) == 1 or isinstance(calls[0].form, Pieces)
    is_divided = _has_one_image(calls[0]) and _count(calls[0]) > 1
    return RowJobs(calls, _shapes_in_all(calls)) if alike and in_pieces and is_divided else None


def goes_forward(call: KernelCall) -> bool:
    """Tell whether the first job of a call is for the first row."""
    return not call.backward or (isinstance(call.form, Reduce) and not call.form.any_order)


def _shapes_in_all(calls: Sequence[KernelCall]) -> Mapping[Operand, tuple[int, int]]:
    """Return the operands that each of the calls with them gets in the same rows."""
    found: dict[Operand, set[tuple[int, int] | None]] = {}
    for call in calls:
        shapes = _shapes(call)
        for operand in call.operands:
            found.setdefault(operand, set()).add(shapes.get(operand))
    only = {operand: next(iter(each)) for operand, each in found.items() if len(each) == 1}
    return {operand: shape for operand, shape in only.items() if shape is not None}


def _has_one_image(call: KernelCall) -> bool:
    return not isinstance(call.form, Rows | Reduce) or call.form.images == 1


def _count(call: KernelCall) -> int:
    match call.form:
        case Rows(rows=rows) | Reduce(rows=rows):
            return rows
        case Pieces(count=count):
            return count
    return 1


def _shapes(call: KernelCall) -> Mapping[Operand, tuple[int, int]]:
    first, last = call.operands[0], call.operands[-1]
    match call.form:
        case Rows() as form:
            return {
                first: (form.input_rows, form.input_row_elements),
                last: (form.rows, form.output_row_elements),
            }
        case Reduce() as form:
            return {first: (form.rows, form.input_row_elements)}
        case Pieces(count, pitches):
            pairs = zip(call.operands, pitches, strict=True)
            return {o: (count, pitch) for o, pitch in pairs if pitch and not isinstance(o, Derived | Absent)}
    return {}
