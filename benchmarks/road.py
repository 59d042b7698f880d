"""How long each part of the road takes, for each model by itself:

    python benchmarks/road.py ../shared/models/*.tflite

Seconds of the best of five runs, after Python has started; the last line is the whole command in a fresh process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from usmp_build import pipeline, writer
from usmp_build.files import DictFiles
from usmp_build.importers.tflite import import_tflite

_RUNS = 5
_Result = TypeVar("_Result")


def main(paths: list[str]) -> None:
    """Measure and print."""
    print("| model | bytes | import | plan | C and files | workspace | bound |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for path in map(Path, paths):
        data = path.read_bytes()
        text = f'[project]\nname = "bench"\n[models.model]\npath = "{path.name}"\n'.encode()
        files = DictFiles({"usmp.toml": text, path.name: data})
        imported, _ = _best(lambda data=data: import_tflite(data, "model", "model"))
        planned, plan = _best(lambda files=files: pipeline.plan(pipeline.read("usmp.toml", files), files))
        emitted, _ = _best(lambda plan=plan: _write(plan))
        workspace = plan.summary.pools[0]
        sizes = f"{workspace.size:,} | {workspace.bound:,}"
        print(f"| {path.stem} | {len(data):,} | {imported:.4f} | {planned:.3f} | {emitted:.3f} | {sizes} |")
    if paths:
        print(f"\n{Path(paths[-1]).stem} from manifest to files, Python's start included: {_whole(paths[-1]):.2f} s")


def _best(function: Callable[[], _Result]) -> tuple[float, _Result]:
    times = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def _write(plan: pipeline.Planned) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer.write(pipeline.emit(pipeline.lay_out(plan)), folder)


def _whole(model: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder) / "usmp.toml"
        manifest.write_text(f'[project]\nname = "bench"\n[models.model]\npath = "{Path(model).resolve().as_posix()}"\n')
        command = [sys.executable, "-m", "usmp_build", "generate", str(manifest), "--out", folder]
        return _best(lambda: subprocess.run(command, check=True, capture_output=True))[0]


if __name__ == "__main__":
    main(sys.argv[1:])
