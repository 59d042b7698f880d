"""Divides a kernel call into jobs, one for each row, and tells which rows a job reads and writes.

    Rows      a job for each output row; it reads the input rows under the window that are inside the image
    Reduce    a job for each input row; the first one begins, the last one finishes and writes the output
    Pieces    a job for each piece; it reads and writes that piece of every operand that has pieces

The jobs of a call that is `backward` begin with the last row, except those of a reduction whose order matters.
"""

from __future__ import annotations

from collections.abc import Mapping

from usmp_build.interfaces.kernels import Absent, Derived, Kernel, KernelCall, Operand, Output, Pieces, Reduce, Rows


def row_call(kernel: Kernel) -> KernelCall | None:
    """Return the only call of a kernel that can be divided into jobs; None if it cannot."""
    if len(kernel.calls) != 1 or kernel.updates:
        return None
    call = kernel.calls[0]
    one_image = not isinstance(call.form, Rows | Reduce) or call.form.images == 1
    return call if one_image and job_count(call) > 1 and call.accesses is not None and not call.prototype else None


def job_count(call: KernelCall) -> int:
    """Return the number of jobs of a call."""
    match call.form:
        case Rows(rows=rows) | Reduce(rows=rows):
            return rows
        case Pieces(count=count):
            return count
    return 1


def row_of(call: KernelCall, job: int) -> int:
    """Return the row that a job computes, or consumes for a reduction."""
    is_forward = not call.backward or (isinstance(call.form, Reduce) and not call.form.any_order)
    return job if is_forward else job_count(call) - 1 - job


def row_shapes(call: KernelCall) -> Mapping[Operand, tuple[int, int]]:
    """Return the operands that a call gets row by row, each with the number of its rows and the elements of one.

    The output of a reduction is not among them: it is written at once.
    """
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


def rows_touched(call: KernelCall, operand: Operand, job: int) -> range:
    """Return the rows of an operand of `row_shapes` that a job reads or writes, ascending."""
    row, form = row_of(call, job), call.form
    if not isinstance(form, Rows) or isinstance(operand, Output):
        return range(row, row + 1)
    begin = form.first_row(row)
    window = range(begin, begin + form.window * form.dilation, form.dilation)
    skipped = max(0, -(begin // form.dilation))
    return range(begin + skipped * form.dilation, min(window.stop, form.input_rows), form.dilation)
