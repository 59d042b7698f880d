"""Makes expected.h: inputs of the model, and what TensorFlow Lite Micro computes from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

_HERE = Path(__file__).parent
_RUNS = 3
_PORTS = {
    "left": "input_0",
    "right": "input_1",
    "centred": "output_0",
    "wide": "output_1",
    "mixed": "output_2",
    "both": "output_3",
}
"""Name in C → name in the goldens."""
_HEAD = """\
/* Inputs, and the answers of TensorFlow Lite Micro.  Made by make_expected.py. */
#ifndef EXPECTED_H
#define EXPECTED_H

#include <stdint.h>

"""


def text() -> str:
    """Return the header."""
    goldens = np.load(_HERE / "../../tests/data/golden/kitchen_b.npz")
    members = [f"    int8_t {name}[{goldens[key][0].size}];\n" for name, key in _PORTS.items()]
    rows = [_row([goldens[key][run] for key in _PORTS.values()]) for run in range(_RUNS)]
    declared = f"struct expected {{\n{''.join(members)}}};\n\nstatic const struct expected expected[] = {{\n"
    return f"{_HEAD}{declared}{''.join(rows)}}};\n\n#endif\n"


def _row(tensors: list[npt.NDArray[np.int8]]) -> str:
    return "    {\n" + "".join(map(_array, tensors)) + "    },\n"


def _array(tensor: npt.NDArray[np.int8]) -> str:
    values = tensor.reshape(-1).tolist()
    lines = (", ".join(f"{value:4d}" for value in values[start : start + 17]) for start in range(0, len(values), 17))
    return "        { " + ",\n          ".join(lines) + " },\n"


if __name__ == "__main__":
    (_HERE / "expected.h").write_text(text(), encoding="utf-8")
