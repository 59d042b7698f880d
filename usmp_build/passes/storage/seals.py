"""Adds a seal to each constant pool owned by the application: it identifies the code that the bytes belong to."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.ir.graph import DType
from usmp_build.ir.seal import SEAL_BYTES
from usmp_build.ir.storage import Kind, StorageBuffer
from usmp_build.request import Request


def seals(request: Request) -> Iterator[tuple[int, StorageBuffer]]:
    """Yield the position and the seal of each constant pool owned by the application that a model may use."""
    for position, pool in enumerate(request.pools):
        models = tuple(m for m, model in enumerate(request.models) if position in model.constant_pools)
        if models and pool.is_sealed:
            yield (
                position,
                StorageBuffer(
                    name=f"{request.project}.{pool.name}_seal",
                    kind=Kind.CONSTANT,
                    models=models,
                    size=SEAL_BYTES,
                    alignment=DType.UINT32.alignment,
                    dtype=DType.UINT32,
                    pools=(position,),
                    reason="says which code the pool belongs to",
                    data=bytes(SEAL_BYTES),
                    stays_apart=True,
                ),
            )
