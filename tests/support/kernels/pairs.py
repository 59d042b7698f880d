"""Random models of functions of two operands, which are broadcast; see `cases`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from tests.support.kernels.drawing import (
    ACTIVATIONS,
    FLOAT,
    INT8,
    INT16,
    Case,
    Random,
    activation,
    case,
    pick,
    plain,
    span,
    values,
)
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation
from usmp_build.operators.binary import Binary

INT32 = DType.INT32


def shapes(r: Random, count: int, most_rank: int) -> list[tuple[int, ...]]:
    """Draw the shapes of operands: all the same, or some stretched; the last one is the output's."""
    rank = span(r, 1, most_rank)
    full = [span(r, 1, 5) for _ in range(rank)]
    drawn = [full] * count
    if r.integers(2):
        drawn = [[pick(r, [size, size, 1]) for size in full][span(r, 0, rank - 1) :] for _ in range(count)]
    return [*map(tuple, drawn), np.broadcast_shapes(*map(tuple, drawn))]


def perhaps_constant(r: Random, tensor: Tensor) -> Tensor:
    return replace(tensor, data=values(r, tensor).tobytes()) if r.integers(4) == 0 else tensor


def calculation(kind: str) -> Callable[[Random], Case]:
    """ADD, SUB and MUL."""

    def make(r: Random) -> Case:
        dtype = pick(r, [INT8, INT8, INT16, INT16, INT32, FLOAT])
        first, second, result = shapes(r, 2, 5)
        fused = pick(r, ACTIVATIONS)
        if dtype is INT32:  # TensorFlow Lite Micro leaves out the activation of an ADD
            operands = [plain("a", first, INT32), perhaps_constant(r, plain("b", second, INT32))]
            options = Binary(Activation.NONE if kind == "ADD" else fused)
            return _small(r, case(r, kind, operands, plain("y", result, INT32), options))
        zero = 0 if dtype is INT16 and (kind == "MUL" or r.integers(2)) else None
        scales = r.uniform(0.001, 0.3, 2) / (200 if dtype is INT16 else 1)
        left, right = (_operand(r, n, s, dtype, c, zero) for n, s, c in zip("ab", (first, second), scales, strict=True))
        scale = prod(scales) * (128 if dtype is INT8 else 32768) if kind == "MUL" else sum(scales)
        output = _operand(r, "y", result, dtype, scale * r.uniform(0.2, 1), zero)
        return case(r, kind, (left, perhaps_constant(r, right)), output, Binary(fused))

    return make


def _operand(r: Random, name: str, shape: Sequence[int], dtype: DType, scale: float, zero: int | None) -> Tensor:
    """Draw a tensor; the zero points of int16 leave TensorFlow Lite Micro room."""
    if dtype is INT16 and zero is None:
        zero = span(r, -32000, 32000)
    return activation(name, shape, dtype, scale, zero, r)


def _small(r: Random, made: Case) -> Case:
    """Keep integers where nothing wraps, most of the time."""
    return Case(made.graph, tuple(x >> pick(r, [16, 20, 28]) for x in made.inputs)) if r.integers(4) else made


CASES: dict[str, Callable[[Random], Case]] = {
    "ADD": calculation("ADD"),
    "MUL": calculation("MUL"),
    "SUB": calculation("SUB"),
}
