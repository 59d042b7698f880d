"""Computes what TVM's own plan of a lowered module takes, for comparison with ours.

TVM plans the tensors of main by StaticPlanBlockMemory, and the buffers of each function by StorageRewrite; both are
alive at once: main's tensors, and the buffers of the function that runs.  Inputs and outputs are the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from tvm import relax, tirx

from usmp_build.importers.tvm.prim_function import ARRAYS, storage_scope


def compiler_plan(calls: Any, loops: Any) -> dict[str, int] | None:
    """Return the bytes of main's tensors, and of the buffers of the function that has the most; of what `lower` made.

    None where TVM leaves tensors to its run time: in branches, and in memories of devices.  Both passes may fail, in as
    many ways as TVM has.
    """
    main = relax.transform.StaticPlanBlockMemory()(calls)["main"]
    bindings = [binding for block in main.body.blocks for binding in block.bindings]
    names = [getattr(getattr(binding.value, "op", None), "name", "") for binding in bindings]
    called = [*zip(names, bindings, strict=True)]
    dynamic = sum(_bytes(binding.var.ty) for name, binding in called if name == "relax.builtin.alloc_tensor")
    if dynamic > _bytes(main.ret_ty) or any(isinstance(binding.value, relax.If) for binding in bindings):
        return None
    storages = (binding.value.args[0].values[0] for name, binding in called if name == "relax.memory.alloc_storage")
    functions = tirx.transform.StorageRewrite()(loops).functions.values()
    buffers = (sum(_buffers(each.body)) for each in functions if isinstance(each, tirx.PrimFunc))
    return {"tensors": sum(map(int, storages)), "functions": max(buffers, default=0)}


def _bytes(type_: Any) -> int:
    """Return the bytes of a tensor, or of all tensors of a tuple."""
    if hasattr(type_, "fields"):
        return sum(map(_bytes, type_.fields))
    return prod(map(int, type_.shape.values)) * np.dtype(str(type_.dtype)).itemsize


def _buffers(statement: Any) -> Iterator[int]:
    """Yield the bytes of each buffer of a statement that is no array of the C function."""
    if type(statement).__name__ == "AllocBuffer" and storage_scope(statement.buffer) not in ARRAYS:
        kind = statement.buffer.ty
        yield prod(map(int, kind.shape)) * np.dtype(str(kind.dtype)).itemsize
    inside = [getattr(statement, name, None) for name in ("body", "then_case", "else_case")]
    for each in (*inside, *getattr(statement, "seq", ())):
        if each is not None:
            yield from _buffers(each)
