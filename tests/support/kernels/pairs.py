"""Random models of functions of several operands, most of which are broadcast; see `cases`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from tests.support.kernels.drawing import (
    ACTIVATIONS,
    FLOAT,
    INT8,
    INT16,
    Array,
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

INT32, INT64, BOOL = DType.INT32, DType.INT64, DType.BOOL


def shapes(r: Random, count: int, most_rank: int) -> list[tuple[int, ...]]:
    """Draw the shapes of operands: all the same, or some stretched; the last one is the output's.

    At times the first operand and the others are stretched along every other one of six axes.
    """
    if r.integers(10) == 0:
        turns = [[span(r, 2, 3) if (axis + place) % 2 else 1 for axis in range(6)] for place in (1, 2)]
        drawn = [turns[0], *[turns[1]] * (count - 1)]
        return [*map(tuple, drawn), np.broadcast_shapes(*map(tuple, drawn))]
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


def _small(r: Random, example: Case) -> Case:
    """Keep integers where nothing wraps, most of the time."""
    return Case(example.graph, tuple(x >> pick(r, [16, 20, 28]) for x in example.inputs)) if r.integers(4) else example


def extreme(kind: str) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        dtype = pick(r, [INT8, INT16, INT32, INT64, FLOAT])
        drawn, scales = shapes(r, 2, 4), pick(r, [[r.uniform(0.001, 0.3)] * 3, r.uniform(0.001, 0.3, 3)])
        quantized = dtype in {INT8, INT16} and pick(r, [True, True, False])
        first, second, output = (
            activation(n, s, dtype, scale, r=r) if quantized else plain(n, s, dtype)
            for n, s, scale in zip("aby", drawn, scales, strict=True)
        )
        return case(r, kind, (first, perhaps_constant(r, second)), output)

    return make


def add_n(r: Random) -> Case:
    dtype, shape = pick(r, [INT8, INT8, FLOAT]), [span(r, 1, 5) for _ in range(span(r, 1, 4))]
    scale, zero = r.uniform(0.001, 0.3), span(r, -128, 127)
    inputs = [
        activation(name, shape, dtype, scale, zero) for name in "abcdefghijklmnop"[: span(r, 2, pick(r, [4, 16]))]
    ]
    return case(r, "ADD_N", inputs, activation("y", shape, dtype, scale * r.uniform(0.5, 4), r=r))


def squared_difference(r: Random) -> Case:
    dtype = pick(r, [INT8, INT8, INT16, INT32, FLOAT])
    drawn = shapes(r, 2, 4)
    if dtype in {INT32, FLOAT}:
        first, second, output = (plain(n, s, dtype) for n, s in zip("aby", drawn, strict=True))
        example = case(r, "SQUARED_DIFFERENCE", (first, second), output)
        return _small(r, example) if dtype is INT32 else example
    zero = 0 if dtype is INT16 else None
    scales = r.uniform(0.001, 0.3, 2) / (200 if dtype is INT16 else 1)
    first, second = (activation(n, s, dtype, c, zero, r) for n, s, c in zip("ab", drawn, scales, strict=False))
    scale = max(scales) ** 2 * (128 if dtype is INT8 else 32768) * r.uniform(0.2, 3)
    return case(r, "SQUARED_DIFFERENCE", (first, second), activation("y", drawn[-1], dtype, scale, zero, r))


def divide(r: Random) -> Case:
    """Of int8 a divisor may be 0; none of -1 to 1 is divided, which TensorFlow Lite Micro may shift too far.

    The least int32 is not divided by -1, on which it stops.
    """
    dtype = pick(r, [INT8, INT8, INT32, FLOAT])
    drawn, options = shapes(r, 2, 4), Binary(pick(r, ACTIVATIONS))
    if dtype is not INT8:
        example = case(
            r,
            "DIV",
            [plain(n, s, dtype) for n, s in zip("ab", drawn, strict=False)],
            plain("y", drawn[-1], dtype),
            options,
        )
        a, b = example.inputs
        b = b >> pick(r, [0, 16, 24]) if dtype is INT32 else b
        a = np.maximum(a, 1 - 2**31) if dtype is INT32 else a
        return Case(example.graph, (a, np.where(b == 0, 3, b).astype(b.dtype)))
    scales, zeros = r.uniform(0.001, 0.3, 2), [span(r, -128, 127) for _ in range(2)]
    operands = [activation(n, s, dtype, *each) for n, s, *each in zip("ab", drawn, scales, zeros, strict=False)]
    scale = scales[0] / scales[1] * 10 ** r.uniform(-3, -1.6)
    example = case(r, "DIV", operands, activation("y", drawn[-1], dtype, scale, r=r), options)
    a, b = example.inputs
    larger = zeros[0] + 2 if zeros[0] < 0 else zeros[0] - 2
    return Case(example.graph, (np.where(np.abs(a.astype(int) - zeros[0]) <= 1, larger, a).astype(np.int8), b))


def floored(kind: str) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        first, second, output = (plain(n, s, FLOAT) for n, s in zip("aby", shapes(r, 2, 4), strict=True))
        example = case(r, kind, (first, second), output)
        a, b = (np.round(x) if r.integers(2) else x for x in example.inputs)
        return Case(example.graph, (a, np.where(b == 0, np.float32(3), b)))

    return make


def floored_integers(r: Random, kind: str) -> Case:
    """Draw what only LiteRT has: quotients and remainders of indices, of either sign, also by 0."""
    first, second, output = (plain(n, s, INT32) for n, s in zip("aby", shapes(r, 2, 4), strict=True))
    example = case(r, kind, (first, second), output)
    a, b = example.inputs
    return Case(example.graph, (a, np.asarray(b >> pick(r, [0, 16, 30]))))


def prelu(r: Random) -> Case:
    dtype = pick(r, [INT8, INT8, INT16, FLOAT])
    rank = span(r, 1, 4)
    shape = tuple(span(r, 1, 5) for _ in range(rank))
    slopes = tuple(pick(r, [size, size, 1]) for size in shape)[span(r, 0, rank - 1) :]
    scale = r.uniform(0.001, 0.2) / (200 if dtype is INT16 else 1)
    source = activation("x", shape, dtype, scale, r=r)
    alpha = activation("alpha", slopes, FLOAT if dtype is FLOAT else INT8, 10 ** r.uniform(-4, -1.5), r=r)
    output = activation("y", shape, dtype, scale * pick(r, [1.0, r.uniform(0.1, 3)]), r=r)
    return case(r, "PRELU", (source, perhaps_constant(r, alpha)), output)


def comparison(kind: str, *further: DType) -> Callable[[Random], Case]:
    """Numbers are few at times, so that some are equal."""

    def make(r: Random) -> Case:
        dtype = pick(r, [INT8, INT8, INT32, INT64, FLOAT, *further])
        first, second, result = shapes(r, 2, 4)
        if dtype is INT8:
            scales = pick(r, [(0.1, 0.1), tuple(10 ** r.uniform(-4, -0.01, 2))])
            operands = [activation(n, s, dtype, c, r=r) for n, s, c in zip("ab", (first, second), scales, strict=True)]
        else:
            operands = [plain("a", first, dtype), plain("b", second, dtype)]
        example = case(r, kind, (operands[0], perhaps_constant(r, operands[1])), plain("y", result, BOOL))
        return Case(example.graph, tuple(map(_few, example.inputs))) if r.integers(2) else example

    return make


def _few(numbers: Array) -> Array:
    return numbers if numbers.dtype == np.bool_ else np.trunc(np.fmod(numbers, 4)).astype(numbers.dtype)


def logic(kind: str) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        first, second, output = (plain(n, s, BOOL) for n, s in zip("aby", shapes(r, 2, 4), strict=True))
        return case(r, kind, (first, second), output)

    return make


def select(r: Random) -> Case:
    dtype = pick(r, [INT8, INT16, FLOAT])
    condition, *drawn = shapes(r, 3, 4)
    scale, zero = r.uniform(0.001, 0.3), span(r, -128, 127)
    first, second, output = (activation(n, s, dtype, scale, zero) for n, s in zip("aby", drawn, strict=True))
    return case(r, "SELECT_V2", (plain("c", condition, BOOL), first, perhaps_constant(r, second)), output)


def select_alike(r: Random) -> Case:
    dtype, shape = pick(r, [INT8, INT16, INT32, FLOAT]), [span(r, 1, 5) for _ in range(span(r, 1, 4))]
    scale, zero = r.uniform(0.001, 0.3), span(r, -128, 127)
    if dtype is INT32:
        first, second, output = (plain(name, shape, dtype) for name in "aby")
    else:
        first, second, output = (activation(name, shape, dtype, scale, zero) for name in "aby")
    condition = plain("c", pick(r, [shape, shape[:1], ()]), BOOL)
    return case(r, "SELECT", (condition, first, perhaps_constant(r, second)), output)


FLOORED = ("FLOOR_DIV", "FLOOR_MOD")

CASES: dict[str, Callable[[Random], Case]] = {
    "ADD": calculation("ADD"),
    "ADD_N": add_n,
    "DIV": divide,
    "EQUAL": comparison("EQUAL", BOOL),
    "FLOOR_DIV": floored("FLOOR_DIV"),
    "FLOOR_MOD": floored("FLOOR_MOD"),
    "GREATER": comparison("GREATER"),
    "GREATER_EQUAL": comparison("GREATER_EQUAL"),
    "LESS": comparison("LESS"),
    "LESS_EQUAL": comparison("LESS_EQUAL"),
    "LOGICAL_AND": logic("LOGICAL_AND"),
    "LOGICAL_OR": logic("LOGICAL_OR"),
    "MAXIMUM": extreme("MAXIMUM"),
    "MINIMUM": extreme("MINIMUM"),
    "MUL": calculation("MUL"),
    "NOT_EQUAL": comparison("NOT_EQUAL", BOOL),
    "PRELU": prelu,
    "SELECT": select_alike,
    "SELECT_V2": select,
    "SQUARED_DIFFERENCE": squared_difference,
    "SUB": calculation("SUB"),
}
