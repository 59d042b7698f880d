"""TensorFlow Lite Micro as host.c is: the nanoseconds of the fastest of some runs, then the outputs' bytes.

    python -m benchmarks.tflm MODEL.tflite INPUTS.npz OUTPUTS RUNS

OUTPUTS is how many the model has.
"""

from __future__ import annotations

import sys
import time

import numpy as np

_ARENA = 64 << 20


def main(model: str, inputs: str, outputs: str, runs: str) -> None:
    """Fill all inputs before every run, as our C must; only the run is timed."""
    from tflite_micro import runtime

    interpreter = runtime.Interpreter.from_file(model, arena_size=_ARENA)
    with np.load(inputs) as stored:
        arrays = [stored[name] for name in stored.files]
    times = []
    for _ in range(int(runs)):
        for index, array in enumerate(arrays):
            interpreter.set_input(array, index)
        start = time.perf_counter_ns()
        interpreter.invoke()
        times.append(time.perf_counter_ns() - start)
    sys.stdout.buffer.write(f"{min(times)}\n".encode())
    for index in range(int(outputs)):
        sys.stdout.buffer.write(interpreter.get_output(index).tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
