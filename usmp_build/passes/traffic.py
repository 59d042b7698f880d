"""Kernels + Storage → how many bytes each operator moves to and from each buffer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from usmp_build.interfaces.analysis import Kernels, OperatorTraffic
from usmp_build.interfaces.kernels import Derived, Input, Kernel, NoKernel, Operand, Output, Scratch, Traffic
from usmp_build.ir.graph import Model, Operator, OperatorRef, TensorRef, operator_at
from usmp_build.ir.storage import Storage


def traffic(models: tuple[Model, ...], kernels: Kernels, storage: Storage) -> OperatorTraffic:
    """Add up what the calls of every operator declare."""
    return {ref: _sum(ref, operator_at(models, ref), kernel, storage) for ref, kernel in kernels.items()}


def _sum(ref: OperatorRef, op: Operator, kernel: Kernel | NoKernel, storage: Storage) -> dict[int, Traffic]:
    found: dict[int, Traffic] = {}
    for operand, declared in _operands(op, kernel):
        buffer = _buffer(ref, op, operand, storage)
        if buffer is not None:
            moved = declared or _once(operand, storage.buffers[buffer].size)
            found[buffer] = found.get(buffer, Traffic()) + moved
    return found


def _operands(op: Operator, kernel: Kernel | NoKernel) -> Iterator[tuple[Operand, Traffic | None]]:
    """Every operand of every call, with what is declared of it; without a kernel, those of the operator."""
    if isinstance(kernel, Kernel):
        for call in kernel.calls:
            yield from zip(call.operands, call.traffic or repeat(None, len(call.operands)), strict=True)
    else:
        yield from ((Input(position), None) for position in range(len(op.inputs)))
        yield from ((Output(position), None) for position in range(len(op.outputs)))


def _buffer(ref: OperatorRef, op: Operator, operand: Operand, storage: Storage) -> int | None:
    """Return the buffer behind an operand; None for the caller's arrays and for inputs that were left out."""
    match operand:
        case Scratch(position):
            return storage.scratch[ref][position]
        case Derived(position):
            return storage.derived[ref][position]
        case Input(position):
            tensor = op.inputs[position]
        case Output(position):
            tensor = op.outputs[position]
    return None if tensor is None else storage.tensors.get(TensorRef(ref.model, ref.subgraph, tensor))


def _once(operand: Operand, size: int) -> Traffic:
    """All of it, once: inputs are read, outputs written, scratch both."""
    return Traffic(
        read=0 if isinstance(operand, Output) else size, written=size if isinstance(operand, Output | Scratch) else 0
    )
