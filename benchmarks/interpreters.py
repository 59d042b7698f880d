"""Interpreters as host.c is: the nanoseconds of the fastest of some runs, then the outputs' bytes.

    python -m benchmarks.interpreters {tflm,litert} MODEL.tflite INPUTS.npz OUTPUTS RUNS

OUTPUTS is how many the model has.  LiteRT runs on one thread, as ours and TensorFlow Lite Micro do.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_ARENA = 64 << 20


class Interpreter(NamedTuple):
    """What differs between the interpreters; tensors are counted among inputs, and among outputs."""

    fill: Callable[[Any, int], None]
    invoke: Callable[[], None]
    output: Callable[[int], Any]


def tflm(model: str) -> Interpreter:
    """TensorFlow Lite Micro, with the reference kernels of its package."""
    from tflite_micro import runtime

    interpreter = runtime.Interpreter.from_file(model, arena_size=_ARENA)
    return Interpreter(interpreter.set_input, interpreter.invoke, interpreter.get_output)


def litert(model: str) -> Interpreter:
    """LiteRT, with XNNPACK."""
    from ai_edge_litert.interpreter import Interpreter as LiteRT

    interpreter = LiteRT(model_path=model, num_threads=1)
    interpreter.allocate_tensors()
    inputs = [each["index"] for each in interpreter.get_input_details()]
    outputs = [each["index"] for each in interpreter.get_output_details()]
    return Interpreter(
        lambda array, index: interpreter.set_tensor(inputs[index], array),
        interpreter.invoke,
        lambda index: interpreter.get_tensor(outputs[index]),
    )


def main(which: str, model: str, inputs: str, outputs: str, runs: str) -> None:
    """Fill all inputs before every run, as our C must; only the run is timed."""
    interpreter = {"tflm": tflm, "litert": litert}[which](model)
    with np.load(inputs) as stored:
        arrays = [stored[name] for name in stored.files]
    times = []
    for _ in range(int(runs)):
        for index, array in enumerate(arrays):
            interpreter.fill(array, index)
        start = time.perf_counter_ns()
        interpreter.invoke()
        times.append(time.perf_counter_ns() - start)
    sys.stdout.buffer.write(f"{min(times)}\n".encode())
    for index in range(int(outputs)):
        sys.stdout.buffer.write(interpreter.output(index).tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
