"""Measures models in TensorFlow Lite Micro, each in a process of its own: the interpreter aborts on some."""

from __future__ import annotations

import re
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usmp_build.frozen import frozen
from usmp_build.processes import Done, Unfinished, run_module
from usmp_build.selftest.inputs import Sample
from usmp_build.selftest.oracle_process import MEMORY, TFLM

_PROCESS = "usmp_build.cli.tflm_process"
"""A module of TensorFlow Lite Micro's process: to import it here would need that package here."""
_SECONDS = 600


class NotMeasured(Exception):
    """TensorFlow Lite Micro does not run a model; the text is the reason, as a clause."""


@frozen
class Measured:
    """A model in the interpreter of this machine."""

    head: int
    """Bytes of the arena that are planned."""
    tail: int
    """Bytes of everything else, for pointers as wide as here."""
    arena: int
    """Bytes of an arena that works: head, tail, and what is needed while tensors are allocated."""
    outputs: dict[str, NDArray[Any]]
    """By run and position."""


def is_installed() -> bool:
    """Whether anything can be measured."""
    return find_spec(TFLM) is not None


def measure(data: bytes, inputs: list[Sample], outputs: int) -> Measured:
    """Run a model with this many outputs; raise NotMeasured where that is not possible."""
    with tempfile.TemporaryDirectory(prefix="usmp-tflm-") as scratch:
        folder = Path(scratch)
        (folder / "model.tflite").write_bytes(data)
        arrays = {f"{run}_{i}": array for run, sample in enumerate(inputs) for i, array in enumerate(sample)}
        np.savez(folder / "inputs.npz", allow_pickle=False, runs=np.array(len(inputs)), **arrays)
        report = _run(folder, "inputs.npz", "outputs.npz", str(outputs)).text
        used = dict(re.findall(r"Arena allocation (head|tail) (\d+) bytes", report))
        if len(used) < 2:
            raise NotMeasured("it does not say what it allocates")
        head, tail = int(used["head"]), int(used["tail"])
        arena = _run(folder, str(head + tail)).out.strip()
        if not arena:
            raise NotMeasured("it needs far more than it says that it allocates")
        with np.load(folder / "outputs.npz") as stored:
            return Measured(head, tail, int(arena), {name: stored[name] for name in stored.files})


def _run(folder: Path, *arguments: str) -> Done:
    words = [str(folder / word) if word.endswith(".npz") else word for word in arguments]
    try:
        done = run_module(_PROCESS, [str(folder / "model.tflite"), *words], seconds=_SECONDS, memory=MEMORY)
    except Unfinished:
        raise NotMeasured(f"it takes more than {_SECONDS} seconds") from None
    if done.code:
        raise NotMeasured(done.reason or "it aborts")
    return done
