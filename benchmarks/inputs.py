"""The inputs on which everything runs: the same bytes for our C, for TensorFlow Lite Micro, and on every board.

They are drawn as those of the published figures were: bytes of a linear congruential generator, tensor after tensor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from usmp_build.ir.graph import Model, Tensor
from usmp_build.layout.code import ModelCode

_SEED = 12345


class _Noise:
    """s → s * 1664525 + 1013904223 modulo 2^32; a byte is its highest eight bits."""

    def __init__(self) -> None:
        self._state = _SEED

    def bytes(self, count: int) -> bytes:
        found = bytearray(count)
        for index in range(count):
            self._state = (self._state * 1664525 + 1013904223) & 0xFFFFFFFF
            found[index] = self._state >> 24
        return bytes(found)


def drawn(model: Model) -> list[NDArray[Any]]:
    """Draw every input of a model."""
    noise = _Noise()
    return [_draw(model.main.tensors[index], noise) for index in model.main.inputs]


def _draw(tensor: Tensor, noise: _Noise) -> NDArray[Any]:
    """Bytes as they are, 16-bit integers from two bytes, floats from -1 to 1, and wide integers that fit a byte."""
    kind = np.dtype(tensor.dtype.numpy or "uint8")
    shape = tensor.shape if tensor.dtype.numpy else (tensor.size,)
    count = int(np.prod(shape))
    if kind == np.int16:
        return np.frombuffer(noise.bytes(2 * count), ">i2").astype(kind).reshape(shape)
    raw = np.frombuffer(noise.bytes(count), np.uint8)
    if kind.kind == "f":
        return ((raw.astype(np.float64) - 128) / 128).astype(kind).reshape(shape)
    if kind == np.bool_:
        return (raw & 1).astype(kind).reshape(shape)
    return (raw.view(np.int8) if kind == np.int8 else raw.astype(kind)).reshape(shape)


def header(code: ModelCode, arrays: list[NDArray[Any]]) -> str:
    """Return what the C of a benchmark includes: how to fill the inputs, and where the outputs are."""
    lines = ["#include <string.h>", '#include "model.h"', ""]
    fills, shows = [], []
    for index, (port, array) in enumerate(zip(code.inputs, arrays, strict=True)):
        if port.size:
            values = ", ".join(map(str, array.tobytes()))
            lines += [f"static const uint8_t bench_input_{index}[{port.size}] = {{{values}}};"]
            fills += [f"    memcpy(model_map_inputs().{port.name}, bench_input_{index}, {port.size});"]
    for port in code.outputs:
        shows += [f"    show(model_map_outputs().{port.name}, {port.size});"]
    lines += ["", "static inline void bench_fill(void)", "{", *fills, "}"]
    lines += ["", "static inline void bench_outputs(void (*show)(const void *, size_t))", "{", *shows, "}", ""]
    return "\n".join(lines)
