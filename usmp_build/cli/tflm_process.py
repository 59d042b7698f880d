"""A process that runs a model in TensorFlow Lite Micro, and writes every tensor of every run from FIRST on.

    python -m usmp_build.cli.tflm_process MODEL INPUTS.npz ANSWERS FIRST INDEX...

Each run is a file, written before the next run begins, so that an abort leaves the answers before it.  The self-test
starts such a process for each model, and importing the package would take most of its time: it imports none of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

READY = "ready"
"""A file beside the answers that says that the model was accepted."""
_ARENA = 64 << 20


def _answer(model: str, inputs: str, answers: str, first: str, *wanted: str) -> None:
    """Ask for existing tensors only: the interpreter crashes on others."""
    from tflite_micro import runtime

    keep = runtime.InterpreterConfig.kPreserveAllTensors
    interpreter = runtime.Interpreter.from_file(model, arena_size=_ARENA, intrepreter_config=keep)
    (Path(answers) / READY).touch()
    with np.load(inputs) as stored:
        names = [name for name in stored.files if name != "runs"]
        for run in range(int(first), int(stored["runs"])):
            for name in names:
                if name.startswith(f"{run}_"):
                    interpreter.set_input(stored[name], int(name.partition("_")[2]))
            interpreter.invoke()
            tensors = {tensor: interpreter._interpreter.GetTensor(int(tensor), 0)["tensor_data"] for tensor in wanted}
            np.savez(Path(answers) / f"{run}.npz", allow_pickle=False, **tensors)


if __name__ == "__main__":
    _answer(*sys.argv[1:])
