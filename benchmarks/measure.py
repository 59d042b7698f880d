"""Everything there is to measure of one model, whatever is missing."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from benchmarks import board, host, road
from benchmarks.figures import COMPARED, HOST, INFERENCE, Figures
from benchmarks.processors import Profile, profile
from benchmarks.published import published
from benchmarks.subject import Subject, generate, prepare, together
from benchmarks.tools import Unmeasured
from tests.support.large_nets import mobilenet_v2, resnet_18, u_net
from usmp_build.request import Isa

NETS: dict[str, Callable[[], bytes]] = {
    "mobilenet_v2_035_96": partial(mobilenet_v2, 96, 0.35),
    "resnet_18": resnet_18,
    "u_net": u_net,
}

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")


@dataclass
class Measured:
    """Figures of a model; where there is none, a note says why."""

    model: str
    figures: Figures = field(default_factory=dict)
    profile: Profile | None = None
    notes: list[str] = field(default_factory=list)

    def attempt(
        self, function: Callable[_Arguments, _Result], *arguments: _Arguments.args, **names: _Arguments.kwargs
    ) -> _Result | None:
        """Return what a measurement returns; note why if there is nothing."""
        try:
            return function(*arguments, **names)
        except Unmeasured as why:
            self.notes.append(str(why))
            return None


def measure(path: Path, runs: int) -> Measured:
    """Measure one model file; `runs` is how often it runs on this machine."""
    measured = Measured(path.stem)
    with tempfile.TemporaryDirectory(prefix="usmp-benchmark-") as name:
        folder = Path(name)
        subject = measured.attempt(prepare, path, folder)
        if subject is not None:
            measured.figures |= published(path.stem, len(subject.data)) | road.count(subject) | road.planning(subject)
            if measured.attempt(generate, subject) is not None:
                measured.figures |= measured.attempt(road.generating, subject) or {}
                measured.profile, notes = profile(path, folder)
                measured.notes += notes
                _boards(measured, subject)
                on_host(measured, subject, runs)
    return measured


def measure_together(paths: Sequence[Path]) -> Measured:
    """Measure one plan of several model files."""
    measured = Measured(" + ".join(path.stem for path in paths))
    planned = measured.attempt(together, paths)
    if planned is not None:
        measured.figures |= road.sharing(planned)
    return measured


def compare(path: Path) -> Measured:
    """Count a model's instructions on the M4, for the comparison with CMSIS-NN."""
    measured = Measured(path.stem, published(path.stem, path.stat().st_size))
    with tempfile.TemporaryDirectory(prefix="usmp-benchmark-") as folder:
        measured.profile, measured.notes = profile(path, Path(folder), {Isa.DSP: ("M4",)})
    return measured


def compare_nets() -> list[Measured]:
    """Do so for nets with the layers of published ones."""
    with tempfile.TemporaryDirectory(prefix="usmp-nets-") as folder:
        paths = {Path(folder) / f"{name}.tflite": net for name, net in NETS.items()}
        for path, net in paths.items():
            path.write_bytes(net())
        return [compare(path) for path in paths]


def _boards(measured: Measured, subject: Subject) -> None:
    for column in board.BOARDS:
        measured.figures |= measured.attempt(board.run, subject, column) or {}


def on_host(measured: Measured, subject: Subject, runs: int) -> None:
    """Time both on this machine.  If they do not compute the same, nothing of theirs is worth comparing."""
    ours = measured.attempt(host.ours, subject, runs)
    if ours:
        measured.figures["host ms"] = ours.milliseconds
    if faster := measured.attempt(host.ours, subject, runs, "-O3"):
        measured.figures["host ms, -O3"] = faster.milliseconds
    if litert := measured.attempt(host.interpreted, subject, runs, "litert"):
        measured.figures["host ms, LiteRT"] = litert.milliseconds
    reference = measured.attempt(host.interpreted, subject, runs, "tflm")
    if reference is None:
        return
    different = host.difference(subject, ours.outputs, reference.outputs) if ours else None
    if different is None:
        measured.figures["host ms, TFLM reference"] = reference.milliseconds
        return
    measured.notes.append(f"output {different} is not that of TensorFlow Lite Micro: no inference of theirs is shown")
    for _, theirs in COMPARED:
        if theirs in (*INFERENCE, *HOST):
            measured.figures.pop(theirs, None)
