"""Run models in TensorFlow Lite Micro; a process of its own, because the interpreter aborts on what it dislikes.

    python oracle_worker.py CASES RESULTS

CASES is a pickled list of (model file as bytes, list of input arrays).  After each case one pickle is appended to
RESULTS: the list of outputs, or the text of the error.
"""

import pickle
import sys
from pathlib import Path
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


def main(cases: str, results: str) -> None:
    """Run all of them."""
    with Path(results).open("ab") as file:
        for model, inputs in pickle.loads(Path(cases).read_bytes()):
            pickle.dump(run(model, inputs), file)
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
