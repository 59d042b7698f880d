"""What TVM's own plan of a module takes, and ours, of the same functions.

    python -m benchmarks.relax ../shared/models/{kws,ic,vww}.tflite

It runs in a Python that has TVM and the package `tflite`.  TVM plans the tensors of main by StaticPlanBlockMemory, and
the buffers of each function by StorageRewrite; while main's tensors are there, the largest function needs its own.
Inputs and outputs are the caller's in TVM's figure, and in the workspace in ours.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import relax, tirx

from usmp_build import pipeline
from usmp_build.files import DictFiles
from usmp_build.importers.tvm.front_ends import relax_module
from usmp_build.importers.tvm.lowering import lower
from usmp_build.units import show_bytes

_MANIFEST = b"""
[project]
name = "t"
[pools.sram]
access = "rw"
[pools.flash]
access = "ro"
[models.m]
path = "m.relax.json"
"""


def table(paths: Iterable[Path]) -> list[str]:
    """Return the lines of the table in docs/relax.md, for models as .tflite or .relax.json files."""
    lines = ["| model | TVM: main | TVM: functions | TVM | here | saved |", "|---|--:|--:|--:|--:|--:|"]
    for path in paths:
        module = path.read_bytes() if path.suffix == ".json" else saved(path)
        main, functions = theirs(module)
        here = ours(module)
        figures = (main, functions, main + functions, here)
        saving = f"{100 * (1 - here / (main + functions)):.0f} %"
        lines.append(f"| {path.name.partition('.')[0]} | {' | '.join(map(show_bytes, figures))} | {saving} |")
    return lines


def saved(path: Path) -> bytes:
    """Return the Relax module of a .tflite file, as it is saved."""
    import tflite
    from tvm.relax.frontend.tflite import from_tflite

    model = tflite.Model.GetRootAsModel(path.read_bytes(), 0)
    text: str = tvm.ir.save_json(from_tflite(model))
    return text.encode()


def theirs(data: bytes) -> tuple[int, int]:
    """Return the bytes of TVM's plan for main, and those that its largest function has beside."""
    calls, loops = lower(relax_module(data, ".relax.json")[0])
    planned = relax.transform.StaticPlanBlockMemory()(calls)
    bindings = (binding for block in planned["main"].body.blocks for binding in block.bindings)
    storages = (
        b.value for b in bindings if getattr(getattr(b.value, "op", None), "name", "") == "relax.memory.alloc_storage"
    )
    rewritten = tirx.transform.StorageRewrite()(loops)
    return sum(int(each.args[0].values[0]) for each in storages), max(
        sum(_allocated(each.body)) for each in rewritten.functions.values()
    )


def _allocated(statement: Any) -> Iterator[int]:
    """Yield the bytes of each buffer of a statement."""
    if type(statement).__name__ == "AllocBuffer":
        kind = statement.buffer.ty
        yield prod(map(int, kind.shape)) * np.dtype(str(kind.dtype)).itemsize
    inside = [getattr(statement, name, None) for name in ("body", "then_case", "else_case")]
    for each in (*inside, *getattr(statement, "seq", ())):
        if each is not None:
            yield from _allocated(each)


def ours(data: bytes) -> int:
    """Return the bytes of workspace of our plan."""
    files = DictFiles({"usmp.toml": _MANIFEST, "m.relax.json": data})
    return pipeline.plan(pipeline.read("usmp.toml", files), files).summary.workspace.achieved


if __name__ == "__main__":
    print("\n".join(table(map(Path, sys.argv[1:]))))
