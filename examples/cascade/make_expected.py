"""Makes expected.h: what TensorFlow Lite Micro answers to the pictures and questions that watch.c draws."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tflite_micro.python.tflite_micro import runtime

_HERE = Path(__file__).parent
_PICTURES, _QUESTIONS = 2, 3
_HEAD = """\
/* The answers to three questions about each of two pictures, as TensorFlow Lite Micro computes them.  Made by
 * make_expected.py. */
#ifndef EXPECTED_H
#define EXPECTED_H

#include <stdint.h>

static const int8_t expected[2][3][4] = {
"""


def noise() -> Iterator[int]:
    """Yield what `draw` in watch.c draws."""
    state = 1
    while True:
        state = (state * 1664525 + 1013904223) % (1 << 32)
        yield (state >> 24) - 128


def main() -> None:
    """Write the header beside this script."""
    drawn = noise()
    detector, expert = (
        runtime.Interpreter.from_bytes((_HERE / f"{name}.tflite").read_bytes()) for name in ("detector", "expert")
    )
    rows = []
    for _ in range(_PICTURES):
        detector.set_input(_draw(drawn, (1, 16, 16, 1)), 0)
        detector.invoke()
        answers = []
        for _ in range(_QUESTIONS):
            expert.set_input(detector.get_output(0), 0)
            expert.set_input(_draw(drawn, (1, 1, 1, 8)), 1)
            expert.invoke()
            answers.append(", ".join(map(str, expert.get_output(0).reshape(-1).tolist())))
        rows.append("    { " + ", ".join(f"{{ {answer} }}" for answer in answers) + " },\n")
    (_HERE / "expected.h").write_text("".join([_HEAD, *rows, "};\n\n#endif\n"]), encoding="utf-8")


def _draw(drawn: Iterator[int], shape: tuple[int, ...]) -> np.ndarray:
    return np.array([next(drawn) for _ in range(int(np.prod(shape)))], np.int8).reshape(shape)


if __name__ == "__main__":
    main()
