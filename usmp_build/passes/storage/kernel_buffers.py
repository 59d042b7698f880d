"""Describes the buffers that kernels need beside their operands: scratch, and derived constants."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Operator
from usmp_build.ir.storage import Kind, StorageBuffer


def scratch_buffers(
    kernel: Kernel, model: int, op: Operator, prefix: str, pools: tuple[int, ...]
) -> Iterator[StorageBuffer]:
    """Yield the scratch of an operator, in the kernel's order; their names begin with `prefix`."""
    for scratch in kernel.scratch:
        yield StorageBuffer(
            name=f"{prefix}.{scratch.name}",
            kind=Kind.SCRATCH,
            models=(model,),
            size=scratch.size,
            alignment=max(scratch.dtype.alignment, kernel.alignment),
            dtype=scratch.dtype,
            pools=pools,
            reason=f"scratch of {op.kind} {op.position}",
        )


def derived_buffers(
    kernel: Kernel, model: int, op: Operator, prefix: str, pools: tuple[int, ...]
) -> Iterator[StorageBuffer]:
    """Yield the constants that a kernel derives (multipliers, tables), in its order."""
    for derived in kernel.constants:
        yield StorageBuffer(
            name=f"{prefix}.{derived.name}",
            kind=Kind.CONSTANT,
            models=(model,),
            size=len(derived.data),
            alignment=derived.dtype.alignment,
            dtype=derived.dtype,
            pools=pools,
            reason=f"derived for {op.kind} {op.position}",
            data=derived.data,
        )
