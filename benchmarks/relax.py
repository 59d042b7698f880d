"""What TVM's own plan of a module takes, and ours, of the same functions.

    python -m benchmarks.relax ../shared/models/{kws,ic,vww}.tflite

It runs in a Python that has TVM and the package `tflite`.  `usmp_build.importers.tvm.compiler_plan` says what is
counted; inputs and outputs are the caller's in TVM's figure, and in the workspace in ours.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import tvm

from usmp_build import pipeline
from usmp_build.files import DictFiles
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
        main, functions, here = planned(path.read_bytes() if path.suffix == ".json" else saved(path))
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


def planned(module: bytes) -> tuple[int, int, int]:
    """Return bytes of a saved module: of TVM's plan for main and for the largest function, and of workspace in ours."""
    files = DictFiles({"usmp.toml": _MANIFEST, "m.relax.json": module})
    plan = pipeline.plan(pipeline.read("usmp.toml", files), files)
    own = plan.replanner.models[0].compiler_plan
    assert own is not None  # TVM plans it ahead: it has no branches
    return own.tensors, own.functions, plan.summary.workspace.achieved


if __name__ == "__main__":
    print("\n".join(table(map(Path, sys.argv[1:]))))
