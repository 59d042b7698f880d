"""Says which rows the hook shows after each job of an operator that runs row by row."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.codegen.ports import Locate
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, KernelCall, Output
from usmp_build.interfaces.row_jobs import row_call, row_shapes
from usmp_build.ir.graph import Operator, OperatorRef, operator_at
from usmp_build.layout.rows import RowTrace


def outputs_by_rows(kernel: Kernel, op: Operator) -> tuple[int, ...]:
    """Return the outputs that an operator that runs row by row completes row by row: not those of a reduction."""
    call = row_call(kernel)
    shapes = row_shapes(call) if call is not None else {}
    return tuple(tensor for position, tensor in enumerate(op.outputs) if Output(position) in shapes)


def row_traces(analysis: Analysis, ref: OperatorRef, locate: Locate, call: KernelCall, row: str) -> Iterator[RowTrace]:
    """Yield row number `row`, as C, of each output: that of a reduction has 0 bytes."""
    op, shapes = operator_at(analysis.models, ref), row_shapes(call)
    for position, tensor in enumerate(op.outputs):
        dtype = analysis.models[ref.model].main.tensors[tensor].dtype
        if Output(position) not in shapes:
            yield RowTrace(op.position, tensor, "NULL", 0)
            continue
        elements = shapes[Output(position)][1]
        offsets, base = locate.rows_of(tensor), locate.expression(tensor)
        at = offsets.at(base, row) if offsets else f"{base} + ({row}) * {elements}"
        yield RowTrace(op.position, tensor, at, elements * dtype.bits // 8)
