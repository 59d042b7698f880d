"""Random models of operators whose places come at run time, and of those that fill tensors; see `cases`."""

from collections.abc import Callable, Sequence

import numpy as np

from tests.support.kernels.drawing import (
    FLOAT,
    INT8,
    Array,
    Case,
    Random,
    activation,
    case,
    constant,
    pick,
    span,
    values,
)
from usmp_build.ir.graph import DType, Tensor
from usmp_build.operators.gathering import Gather, gathered

_WORD, _LONG = DType.INT32, DType.INT64


def placed(example: Case, indices: Array) -> Case:
    """Put indices in place of an input of a model: the one that has their shape and type, and is called so."""
    tensors = [example.graph.tensors[port] for port in example.graph.inputs]
    inputs = (indices if t.name == "i" else given for t, given in zip(tensors, example.inputs, strict=True))
    return Case(example.graph, tuple(inputs))


def below(r: Random, shape: Sequence[int], ends: int | Sequence[int]) -> Array:
    """Draw indices from 0 on."""
    return r.integers(0, ends, shape).astype(np.int32)


def indices(shape: Sequence[int]) -> Tensor:
    return Tensor("i", tuple(shape), _WORD)


def gather(r: Random) -> Case:
    dtype = pick(r, [INT8, FLOAT])
    shape = [span(r, 1, 4) for _ in range(span(r, 1, 4))]
    axis = span(r, 0, len(shape) - 1)
    batches = span(r, 0, axis)
    places = (*shape[:batches], *(span(r, 1, 4) for _ in range(span(r, 0, 2))))
    options = Gather(pick(r, [axis, axis - len(shape)]), batches)
    fits = gathered(tuple(shape), places, options)
    assert fits is not None
    source, output = activation("x", shape, dtype, 0.1, 3), activation("y", fits[2], dtype, 0.1, 3)
    example = case(r, "GATHER", (source, indices(places)), output, options)
    return placed(example, below(r, places, shape[axis]))


def gather_nd(r: Random) -> Case:
    dtype = pick(r, [INT8, FLOAT])
    shape = [span(r, 1, 4) for _ in range(span(r, 1, 5))]
    depth = span(r, 1, len(shape))
    count = [span(r, 1, 3) for _ in range(span(r, 0, 2))]
    output = activation("y", (*count, *shape[depth:]), dtype, 0.1, 3)
    example = case(r, "GATHER_ND", (activation("x", shape, dtype, 0.1, 3), indices((*count, depth))), output)
    return placed(example, below(r, (*count, depth), shape[:depth]))


def embedding_lookup(r: Random) -> Case:
    """The table may be a constant, and one of int8 may become float32."""
    (dtype, output_type), count = pick(r, [(INT8, INT8), (FLOAT, FLOAT), (INT8, FLOAT)]), span(r, 1, 6)
    shape, zero = [span(r, 1, 5) for _ in range(span(r, 2, 4))], 3 if output_type is INT8 else 0
    table, output = (
        activation("x", shape, dtype, 0.1, zero),
        activation("y", (count, *shape[1:]), output_type, 0.1, zero),
    )
    if r.integers(2):
        q = table.quantization
        table = constant("x", values(r, table), q.scales if q else (), q.zero_points if q else ())
    return placed(case(r, "EMBEDDING_LOOKUP", (indices((count,)), table), output), below(r, (count,), shape[0]))


def dynamic_update_slice(r: Random) -> Case:
    """Starts may be anything: a part is moved inside."""
    dtype = pick(r, [INT8, _WORD, FLOAT])
    shape = [span(r, 1, 5) for _ in range(span(r, 1, 5))]
    part = [span(r, 1, size) for size in shape]
    source, update, output = (activation(n, s, dtype, 0.1, 3) for n, s in (("x", shape), ("u", part), ("y", shape)))
    dtype_of_starts = pick(r, [_WORD, _LONG])
    starts = Tensor("i", (len(shape),), dtype_of_starts)
    example, limits = case(r, "DYNAMIC_UPDATE_SLICE", (source, update, starts), output), np.iinfo(dtype_of_starts.numpy)
    ends = pick(r, [(0, 5), (-3, 8), (limits.min, limits.max)])
    return placed(example, r.integers(*ends, len(shape), limits.dtype))


def fill(r: Random) -> Case:
    dtype, shape = pick(r, [INT8, _WORD, FLOAT]), [span(r, 1, 5) for _ in range(span(r, 1, 4))]
    sizes = constant("sizes", np.array(shape, pick(r, [np.int32, np.int64])))
    return case(r, "FILL", (sizes, activation("v", (), dtype, 0.1, 3)), activation("y", shape, dtype, 0.1, 3))


def zeros_like(r: Random) -> Case:
    dtype, shape = pick(r, [INT8, _WORD, _LONG, FLOAT]), [span(r, 1, 5) for _ in range(span(r, 1, 4))]
    source, output = (activation(n, shape, dtype, 0.1, 3) for n in "xy")
    return case(r, "ZEROS_LIKE", (source,), output)


def shape(r: Random) -> Case:
    """An output of the model: others are folded."""
    sizes = [span(r, 1, 4) for _ in range(span(r, 1, 6))]
    return case(
        r, "SHAPE", (activation("x", sizes, pick(r, [INT8, _WORD, FLOAT]), 0.1, 3),), Tensor("y", (len(sizes),), _WORD)
    )


def broadcast_args(r: Random) -> Case:
    dtype, whole = pick(r, [_WORD, _LONG]), [span(r, 1, 4) for _ in range(span(r, 1, 5))]
    shapes = [[pick(r, [size, size, 1]) for size in whole], [pick(r, [size, 1]) for size in whole]]
    shapes[pick(r, [0, 1])][: span(r, 0, len(whole) - 1)] = []
    lengths = [*map(len, shapes), max(map(len, shapes))]
    first, second, output = (Tensor(n, (size,), dtype) for n, size in zip("aby", lengths, strict=True))
    example = case(r, "BROADCAST_ARGS", (first, second), output)
    return Case(example.graph, tuple(np.array(shape, dtype.numpy) for shape in shapes))


CASES: dict[str, Callable[[Random], Case]] = {
    "BROADCAST_ARGS": broadcast_args,
    "DYNAMIC_UPDATE_SLICE": dynamic_update_slice,
    "EMBEDDING_LOOKUP": embedding_lookup,
    "FILL": fill,
    "GATHER": gather,
    "GATHER_ND": gather_nd,
    "SHAPE": shape,
    "ZEROS_LIKE": zeros_like,
}
