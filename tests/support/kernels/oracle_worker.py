"""Run models in TensorFlow Lite Micro; a process of its own, because the interpreter aborts on what it dislikes.

Reads pickles from the standard input, each with a model file as bytes and a list of input arrays.  For each it writes a
pickle to the standard output: the list of outputs, or the text of the error.
"""

import os
import pickle
import sys
from typing import Any

_ARENA = 64 << 20
"""So large that the C library maps fresh pages for it: SPACE_TO_BATCH_ND pads with a number that was there before."""


def run(model: bytes, inputs: list[Any]) -> list[Any] | str:
    """Run one model once."""
    from tflite_micro import runtime

    try:
        interpreter = runtime.Interpreter.from_bytes(model, arena_size=_ARENA)
        for index, values in enumerate(inputs):
            interpreter.set_input(values, index)
        interpreter.invoke()
    except (RuntimeError, ValueError) as error:
        return str(error)
    outputs: list[Any] = []
    while True:
        try:
            interpreter.get_output_details(len(outputs))
        except IndexError:
            return outputs
        outputs.append(interpreter.get_output(len(outputs)))


def main() -> None:
    """Answer until the input ends."""
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what the interpreter prints is no answer
        while True:
            try:
                model, inputs = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(run(model, inputs), answers)
            answers.flush()


if __name__ == "__main__":
    main()
