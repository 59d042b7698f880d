"""Gives buffers that DMA touches in cached memory whole cache lines, shared with no other buffer.

    line           0               32              64              96
                   |  frame (40 bytes)      ......| sums  | ...
                   |<------ two whole lines ----->|          nothing else is in them while DMA may touch the frame

The processor writes back and invalidates whole lines: bytes of another buffer in a line that DMA writes would be lost,
or would overwrite what DMA wrote.  DMA may touch

    inputs and outputs of models          the application's DMA fills and reads them; it reads connections, too
    what a copy by the application touches   `copies = "extern"`
    operands of operators of another target  another master of the bus; scratch, too; constants are only read

A buffer with several candidate pools has the longest line among them, whichever it is placed in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import lcm

from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import Model, OperatorRef, TensorRef, operator_at
from usmp_build.ir.scopes import COPY, Scopes
from usmp_build.ir.storage import Kind, Storage, StorageBuffer
from usmp_build.request import Request

_PORTS = frozenset({Kind.INPUT, Kind.OUTPUT, Kind.CONNECTION, Kind.VARIABLE})
"""Kinds of buffers of inputs and outputs that DMA may fill or read; constants are never written."""


def caches(request: Request, models: tuple[Model, ...], kernels: Kernels, scopes: Scopes, storage: Storage) -> Storage:
    """Return the storage with cache lines for each buffer that DMA may touch, and the operators that transfer data."""
    if not any(pool.cache_line for pool in request.pools):
        return storage
    transfers = frozenset(_transfers(models, kernels, scopes))
    buffers = list(storage.buffers)
    for index in sorted({*_ports(models, storage), *_operands(models, transfers, storage)}):
        buffers[index] = _in_lines(buffers[index], request)
    return replace(storage, buffers=tuple(buffers), transfers=transfers)


def _in_lines(buffer: StorageBuffer, request: Request) -> StorageBuffer:
    line = max(request.pools[pool].cache_line for pool in buffer.pools)
    return replace(buffer, cache_line=line, alignment=lcm(buffer.alignment, line)) if line else buffer


def _ports(models: tuple[Model, ...], storage: Storage) -> Iterator[int]:
    for number, model in enumerate(models):
        for tensor in (*model.main.inputs, *model.main.outputs):
            buffer = storage.tensors.get(TensorRef(number, 0, tensor))
            if buffer is not None and storage.buffers[buffer].kind in _PORTS:
                yield from storage.span(buffer)


def _transfers(models: tuple[Model, ...], kernels: Kernels, scopes: Scopes) -> Iterator[OperatorRef]:
    """Yield the operators that the first target does not run itself."""
    for ref, kernel in kernels.items():
        if scopes.targets[ref] != 0 or _is_copied_by_application(models, ref, kernel):
            yield ref


def _operands(models: tuple[Model, ...], transfers: frozenset[OperatorRef], storage: Storage) -> Iterator[int]:
    """Yield the buffers that such operators touch, except constants."""
    for ref in transfers:
        op = operator_at(models, ref)
        tensors = (TensorRef(ref.model, ref.subgraph, t) for t in (*op.inputs, *op.outputs) if t is not None)
        first = [storage.tensors[tensor] for tensor in tensors if tensor in storage.tensors]
        for buffer in (*first, *storage.scratch.get(ref, ())):
            if storage.buffers[buffer].kind is not Kind.CONSTANT:
                yield from storage.span(buffer)


def _is_copied_by_application(models: tuple[Model, ...], ref: OperatorRef, kernel: Kernel | NoKernel) -> bool:
    is_copy = operator_at(models, ref).kind == COPY
    return is_copy and isinstance(kernel, Kernel) and any(call.prototype for call in kernel.calls)
