"""Counts the bytes that each operator reads from and writes to each buffer in one run."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.interfaces.analysis import Kernels, OperatorTraffic
from usmp_build.interfaces.call_traffic import call_traffic
from usmp_build.interfaces.kernels import Absent, Input, Kernel, NoKernel, Operand, Output, Scratch, Traffic
from usmp_build.interfaces.operands import buffer_of
from usmp_build.ir.graph import Model, Operator, OperatorRef, Subgraph
from usmp_build.ir.schedule import Schedule, steps
from usmp_build.ir.storage import Storage


def traffic(models: tuple[Model, ...], kernels: Kernels, schedule: Schedule, storage: Storage) -> OperatorTraffic:
    """Return the traffic of every operator that runs, in bytes; operators of subgraphs that are never called do not."""
    running = {step.operator for step in steps(schedule.root)}
    return {
        ref: _sum(ref, models[ref.model].subgraphs[ref.subgraph], kernel, storage)
        for ref, kernel in kernels.items()
        if ref in running
    }


def _sum(ref: OperatorRef, graph: Subgraph, kernel: Kernel | NoKernel, storage: Storage) -> dict[int, Traffic]:
    op = graph.operators[ref.operator]
    total: dict[int, Traffic] = {}
    for operand, declared in _operands(op, kernel):
        buffer = None if isinstance(operand, Absent) else buffer_of(operand, ref, op, storage)
        if buffer is not None:
            rows = storage.span(buffer)
            size = _part(operand, op, graph) or storage.buffers[buffer].size * len(rows)
            moved = declared or _once(operand, size)
            for row, share in zip(rows, _shares(moved, len(rows)), strict=True):
                total[row] = total[row] + share if row in total else share
    return total


def _part(operand: Operand, op: Operator, graph: Subgraph) -> int:
    """Return the size in bytes of an operand that is only a part of a buffer; 0 for any other operand."""
    if not isinstance(operand, Input | Output):
        return 0
    tensor = (op.inputs if isinstance(operand, Input) else op.outputs)[operand.position]
    return graph.tensors[tensor].size if tensor in graph.parts else 0


def _operands(op: Operator, kernel: Kernel | NoKernel) -> Iterator[tuple[Operand, Traffic | None]]:
    """Yield every operand of every call with its traffic, if it is known; without a kernel, those of the operator."""
    if isinstance(kernel, Kernel):
        for call in kernel.calls:
            yield from zip(call.operands, call_traffic(call), strict=True)
    else:
        yield from ((Input(position), None) for position in range(len(op.inputs)))
        yield from ((Output(position), None) for position in range(len(op.outputs)))


def _shares(moved: Traffic, rows: int) -> Iterator[Traffic]:
    """Split the traffic of a tensor evenly among its rows."""
    if rows == 1:
        yield moved
        return
    for row in range(rows):
        yield Traffic(*(total * (row + 1) // rows - total * row // rows for total in (moved.read, moved.written)))


def _once(operand: Operand, size: int) -> Traffic:
    """Return the traffic of touching all bytes once: inputs are read, outputs written, scratch both."""
    return Traffic(
        read=0 if isinstance(operand, Output) else size, written=size if isinstance(operand, Output | Scratch) else 0
    )
