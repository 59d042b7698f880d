"""A process that runs a model in TensorFlow Lite Micro as it is: its outputs, and its memory.

    usmp_build.cli.tflm_process MODEL INPUTS.npz OUTPUTS.npz COUNT
    usmp_build.cli.tflm_process MODEL LEAST

The first writes COUNT outputs of all runs, and prints the allocations to standard error, as the interpreter does.  The
second prints the bytes of the smallest arena that works, LEAST or more.  As `oracle_process`, it imports no module of
ours.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import numpy as np
from tflite_micro import runtime

_ARENA = 64 << 20
_STEP = 16
"""Bytes."""


def _measure(model: str, inputs: str, outputs: str, count: str) -> None:
    interpreter = runtime.Interpreter.from_file(model, arena_size=_ARENA)
    answers: dict[str, Any] = {}
    with np.load(inputs) as stored:
        for run in range(int(stored["runs"])):
            position = 0
            while (name := f"{run}_{position}") in stored:
                interpreter.set_input(stored[name], position)
                position += 1
            interpreter.invoke()
            answers |= {f"{run}_{output}": interpreter.get_output(output).copy() for output in range(int(count))}
    np.savez(outputs, allow_pickle=False, **answers)
    interpreter.print_allocations()


def _arena(model: str, least: str) -> None:
    """Print the smallest arena, in bytes, that works; nothing where `least` is far from it."""
    low, high = -1, 1 + (4096 + int(least)) // _STEP  # in steps beyond the least
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _works(model, int(least) + middle * _STEP) else (middle, high)
    if high <= (4096 + int(least)) // _STEP:
        print(int(least) + high * _STEP)


def _works(model: str, arena: int) -> bool:
    """Try in a copy of this process, for the interpreter aborts where some arenas are too small."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    with suppress(RuntimeError):
        runtime.Interpreter.from_file(model, arena_size=arena)
        os._exit(0)
    os._exit(1)


if __name__ == "__main__":
    (_measure if len(sys.argv) > 3 else _arena)(*sys.argv[1:])
