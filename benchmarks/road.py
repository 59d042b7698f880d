"""How long each part of the road takes, and the bytes that it comes to."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable

from benchmarks.figures import Figures
from benchmarks.subject import MANIFEST, MODEL, Subject
from benchmarks.tools import run
from usmp_build import pipeline
from usmp_build.importers.tflite import import_tflite
from usmp_build.layout import Summary
from usmp_build.output import writer
from usmp_build.pipeline import Planned

_RUNS = 5


def count(subject: Subject) -> Figures:
    """Say what the plan comes to, in bytes."""
    summary = subject.planned.summary
    return {"file bytes": len(subject.data), "constants": summary.models[0].constants, **_workspace(summary)}


def sharing(planned: Planned) -> Figures:
    """Say what a plan of several models comes to, in bytes, and what they need apart."""
    return {"apart": sum(model.workspace for model in pipeline.compare(planned).models), **_workspace(planned.summary)}


def _workspace(summary: Summary) -> Figures:
    pools = [pool for pool in summary.pools if pool.access == "rw"]
    return {"workspace": sum(pool.size for pool in pools), "bound": sum(pool.bound for pool in pools)}


def planning(subject: Subject) -> Figures:
    """Time the import alone, and everything from the manifest's text to the proven plan."""
    files = subject.files
    return {
        "import": _best(lambda: import_tflite(subject.data, "model", MODEL)),
        "plan": _best(lambda: pipeline.plan(pipeline.read(MANIFEST, files), files)),
    }


def generating(subject: Subject) -> Figures:
    """Time the way from the plan to files on disk, and the whole command.  Raises Unmeasured when that fails."""
    return {"emit": _best(lambda: _emit(subject)), "whole command": _best(lambda: _command(subject))}


def _emit(subject: Subject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer.write(pipeline.emit(pipeline.lay_out(subject.planned)), folder)


def _command(subject: Subject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        manifest = str(subject.folder / MANIFEST)
        run([sys.executable, "-m", "usmp_build", "generate", manifest, "--out", folder])


def _best(function: Callable[[], object]) -> float:
    times = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)
