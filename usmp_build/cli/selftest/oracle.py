"""TensorFlow Lite Micro as oracle, in a process of its own: it aborts on models that it does not like.

Run as a program, this file reads a model and inputs and writes every tensor of every run:

    python -m usmp_build.cli.selftest.oracle MODEL INPUTS.npz TENSORS.npz INDEX...
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usmp_build.cli.selftest.inputs import Sample
from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.request import ModelRequest

_ARENA = 64 << 20
_SECONDS = 600


def oracle_tensors(
    model: ModelRequest, data: bytes, inputs: list[Sample], wanted: list[int]
) -> list[dict[int, NDArray[Any]]] | None:
    """Return the wanted tensors of the main subgraph by index, for each run; None without the package.

    Raises CheckFailed when TensorFlow Lite Micro refuses the model.
    """
    if find_spec("tflite_micro") is None:
        return None
    with tempfile.TemporaryDirectory(prefix="usmp-oracle-") as scratch:
        folder = Path(scratch)
        (folder / "model.tflite").write_bytes(data)
        arrays = {f"{run}_{i}": array for run, sample in enumerate(inputs) for i, array in enumerate(sample)}
        np.savez(folder / "inputs.npz", allow_pickle=False, runs=np.array(len(inputs)), **arrays)
        files = [str(folder / name) for name in ("model.tflite", "inputs.npz", "tensors.npz")]
        module = ["-W", "ignore", "-m", "usmp_build.cli.selftest.oracle"]  # the last line is to say what went wrong
        command = [sys.executable, *module, *files, *map(str, wanted)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            message = f'TensorFlow Lite Micro did not run model "{model.name}" within {_SECONDS} seconds'
            raise CheckFailed(Diagnostic("S603", message, model.path, "ask for fewer runs: --runs 1")) from None
        if done.returncode:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            message = f'TensorFlow Lite Micro refuses model "{model.name}": {" ".join(last) or "it aborts"}'
            raise CheckFailed(Diagnostic("S603", message, model.path, "nothing to compare with: run it on the target"))
        with np.load(folder / "tensors.npz") as stored:
            answers: list[dict[int, NDArray[Any]]] = [{} for _ in inputs]
            for key in stored.files:
                run, _, tensor = key.partition("_")
                answers[int(run)][int(tensor)] = stored[key]
            return answers


def _answer(model: str, inputs: str, tensors: str, *wanted: str) -> None:
    """Ask for existing tensors only: the interpreter crashes on others."""
    from tflite_micro import runtime

    keep = runtime.InterpreterConfig.kPreserveAllTensors
    interpreter = runtime.Interpreter.from_file(model, arena_size=_ARENA, intrepreter_config=keep)
    results: dict[str, NDArray[Any]] = {}
    with np.load(inputs) as stored:
        names = [name for name in stored.files if name != "runs"]
        for run in range(int(stored["runs"])):
            for name in names:
                if name.startswith(f"{run}_"):
                    interpreter.set_input(stored[name], int(name.partition("_")[2]))
            interpreter.invoke()
            for tensor in map(int, wanted):
                results[f"{run}_{tensor}"] = np.array(interpreter._interpreter.GetTensor(tensor, 0)["tensor_data"])
    np.savez(tensors, allow_pickle=False, **results)


if __name__ == "__main__":
    _answer(*sys.argv[1:])
