"""Makes expected.h: what TensorFlow Lite Micro computes from the picture that main.c draws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tflite
from tflite_micro.python.tflite_micro import runtime

_HERE = Path(__file__).parent
_MODEL = _HERE / "../../tests/data/pages.tflite"
_SHAPE = (1, 8, 32, 3)
_HEAD = """\
/* The means of nine tensors, channel by channel, as TensorFlow Lite Micro computes them.  Made by make_expected.py. */
#ifndef EXPECTED_H
#define EXPECTED_H

#include <stdint.h>

static const int8_t expected[9][64] = {
"""


def picture() -> np.ndarray:
    """Return what `draw` in main.c draws."""
    noise, pixels = 1, []
    for _ in range(int(np.prod(_SHAPE))):
        noise = (noise * 1664525 + 1013904223) % (1 << 32)
        pixels.append((noise >> 24) - 128)
    return np.array(pixels, np.int8).reshape(_SHAPE)


def main() -> None:
    """Write the header beside this script."""
    interpreter = runtime.Interpreter.from_bytes(_MODEL.read_bytes())
    interpreter.set_input(picture(), 0)
    interpreter.invoke()
    names = [f"mean_{number}" for number in range(9)]
    order = outputs()
    means = {name: interpreter.get_output(order.index(name)).reshape(-1).tolist() for name in names}
    rows = [_row(means[name]) for name in names]
    (_HERE / "expected.h").write_text("".join([_HEAD, *rows, "};\n\n#endif\n"]), encoding="utf-8")


def _row(values: list[int]) -> str:
    lines = (", ".join(f"{value:4d}" for value in values[start : start + 16]) for start in range(0, len(values), 16))
    return "    { " + ",\n      ".join(lines) + " },\n"


def outputs() -> list[str]:
    """Return the names of the model's outputs, in its order."""
    graph = tflite.Model.GetRootAs(_MODEL.read_bytes()).Subgraphs(0)
    return [graph.Tensors(int(tensor)).Name().decode() for tensor in graph.OutputsAsNumpy()]


if __name__ == "__main__":
    main()
