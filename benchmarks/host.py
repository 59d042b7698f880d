"""Milliseconds of one inference on this machine: our C, TensorFlow Lite Micro's reference kernels, and LiteRT."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks import inputs
from benchmarks.subject import MODEL, POOLS, SOURCES, Subject
from benchmarks.tools import Unmeasured, run

COMPILER = "cc"
_DRIVER = Path(__file__).with_name("host.c")
_PACKAGES = {"tflm": ("tflite_micro", "TensorFlow Lite Micro"), "litert": ("ai_edge_litert", "LiteRT")}
_TOLERANCE = 1e-4
"""Relative to the larger of 1 and the reference: floats are summed in another order."""


@dataclass(frozen=True)
class Answer:
    """The fastest run, and what it computed: all outputs' bytes."""

    milliseconds: float
    outputs: bytes


def ours(subject: Subject, runs: int, optimization: str = "-O2") -> Answer:
    """Build and run the generated C.  Raises Unmeasured."""
    (subject.folder / _DRIVER.name).write_bytes(_DRIVER.read_bytes())
    flags = ["-std=c99", optimization, "-DUSMP_SECTION(name)="]
    run([COMPILER, *flags, *SOURCES, POOLS, _DRIVER.name, "-o", "host", "-lm"], cwd=subject.folder)
    return _answer(run([str(subject.folder / "host"), str(runs)]))


def interpreted(subject: Subject, runs: int, interpreter: Literal["tflm", "litert"]) -> Answer:
    """Ask an interpreter, in a process of its own, for they abort on models that they do not like.

    Raises Unmeasured.
    """
    package, name = _PACKAGES[interpreter]
    if find_spec(package) is None:
        raise Unmeasured(f"the package {package.replace('_', '-')} is not installed")
    model = subject.planned.analysis.models[0]
    arrays = inputs.drawn(model)
    np.savez(
        subject.folder / "inputs.npz", allow_pickle=False, **{str(index): array for index, array in enumerate(arrays)}
    )
    files = [str(subject.folder / file) for file in (MODEL, "inputs.npz")]
    try:
        command = [sys.executable, "-m", "benchmarks.interpreters", interpreter, *files]
        return _answer(run([*command, str(len(model.main.outputs)), str(runs)]))
    except Unmeasured as why:
        raise Unmeasured(f"{name}: {why}") from None


def difference(subject: Subject, got: bytes, wanted: bytes) -> str | None:
    """Return the name of the first output that the two did not compute alike, if any."""
    at = 0
    main = subject.planned.analysis.models[0].main
    for tensor in (main.tensors[index] for index in main.outputs):
        kind = np.dtype(tensor.dtype.numpy or "uint8")
        count = tensor.size // kind.itemsize
        a, b = (np.frombuffer(data, kind, count, at) for data in (got, wanted))
        close = np.abs(a - b) <= _TOLERANCE * np.maximum(1.0, np.abs(b)) if kind.kind == "f" else a == b
        if not np.all(close):
            return tensor.name
        at += tensor.size
    return None


def _answer(said: bytes) -> Answer:
    nanoseconds, _, outputs = said.partition(b"\n")
    return Answer(int(nanoseconds) / 1e6, outputs)
