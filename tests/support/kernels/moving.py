"""Random models of operators that only move bytes; see `cases`."""

from collections.abc import Callable
from dataclasses import replace
from math import prod

import numpy as np

from tests.support.kernels.drawing import (
    FLOAT,
    INT8,
    INT16,
    Case,
    Random,
    activation,
    case,
    constant,
    pick,
    span,
    values,
)
from usmp_build.ir.graph import DType
from usmp_build.operators.joining import Concatenation, Pack
from usmp_build.operators.slicing import StridedSlice

_ANY = (INT8, INT16, FLOAT, DType.INT32, DType.INT64, DType.BOOL)


def reshaping(kind: str) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        dtype = pick(r, [INT8, INT16, FLOAT] if kind == "EXPAND_DIMS" else _ANY)
        shape = tuple(span(r, 1, 5) for _ in range(span(r, 1, 4)))
        source = activation("x", shape, dtype, 0.1, 0)
        if kind == "RESHAPE":
            target = (prod(shape),)
        elif kind == "SQUEEZE":
            target = tuple(size for size in shape if size > 1)
        else:
            axis = span(r, 0, len(shape))
            target = (*shape[:axis], 1, *shape[axis:])
            axes = constant("axis", np.array([axis], np.int32))
            return case(r, kind, (source, axes), activation("y", target, dtype, 0.1, 0))
        return case(r, kind, (source,), activation("y", target, dtype, 0.1, 0))

    return make


def pad(kind: str) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        dtype = pick(r, [INT8, INT8, INT16, FLOAT, DType.INT32])
        rank = span(r, 1, 5)
        shape = tuple(span(r, 1, 4) for _ in range(rank))
        paddings = r.integers(0, 3, (rank, 2)).astype(np.int32) * r.integers(0, 2, (rank, 1)).astype(np.int32)
        target = tuple(int(size + sum(pair)) for size, pair in zip(shape, paddings, strict=True))
        zero_point = span(r, -128, 127)
        source, output = (activation(n, s, dtype, 0.1, zero_point) for n, s in (("x", shape), ("y", target)))
        inputs = [source, constant("paddings", paddings)]
        if kind == "PADV2":
            data = values(r, activation("v", (1,), dtype, 0.1, zero_point))
            q = source.quantization
            value = constant("value", data, q.scales if q else (), q.zero_points if q else ())
            inputs.append(value if r.integers(4) else replace(value, data=None))
        return case(r, kind, inputs, output)

    return make


def concatenation(r: Random) -> Case:
    dtype = pick(r, _ANY)
    shape = [span(r, 1, 4) for _ in range(span(r, 1, 4))]
    axis = span(r, 0, len(shape) - 1)
    sizes = [span(r, 1, 4) for _ in range(span(r, 1, 4))]
    shapes = [[*shape[:axis], size, *shape[axis + 1 :]] for size in sizes]
    inputs = [activation(f"x{i}", s, dtype, 0.1, 3 if dtype is INT8 else 0) for i, s in enumerate(shapes)]
    target = [*shape[:axis], sum(sizes), *shape[axis + 1 :]]
    output = activation("y", target, dtype, 0.1, 3 if dtype is INT8 else 0)
    return case(r, "CONCATENATION", inputs, output, Concatenation(pick(r, [axis, axis - len(shape)])))


def pack(r: Random) -> Case:
    dtype = pick(r, [INT8, INT16, FLOAT, DType.INT32, DType.INT64])
    shape = [span(r, 1, 4) for _ in range(span(r, 0, 3))]
    axis, count = span(r, 0, len(shape)), span(r, 1, 4)
    inputs = [activation(f"x{i}", shape, dtype, 0.1, 3) for i in range(count)]
    output = activation("y", [*shape[:axis], count, *shape[axis:]], dtype, 0.1, 3)
    return case(r, "PACK", inputs, output, Pack(count, pick(r, [axis, axis - len(shape) - 1])))


def split(r: Random) -> Case:
    dtype = pick(r, [INT8, FLOAT, DType.INT32, INT16])
    shape = [span(r, 1, 4) for _ in range(span(r, 1, 4))]
    axis, count = span(r, 0, len(shape) - 1), span(r, 1, 4)
    whole = [*shape[:axis], shape[axis] * count, *shape[axis + 1 :]]
    axes = constant("axis", np.array(pick(r, [axis, axis - len(shape)]), np.int32))
    source = activation("x", whole, dtype, 0.1, 0)
    return case(r, "SPLIT", (axes, source), [activation(f"y{i}", shape, dtype, 0.1, 0) for i in range(count)])


def transpose(r: Random) -> Case:
    """Any order of axes; at times an image, of few channels or many."""
    dtype = pick(r, [INT8, INT8, FLOAT, INT16])
    shape = [span(r, 1, 5) for _ in range(span(r, 1, 5))]
    if r.integers(3) == 0:
        shape = [1, pick(r, [1, 3, 40]), span(r, 1, 6), span(r, 1, 6)]
    order = pick(r, [[0, 2, 3, 1], r.permutation(4)]) if len(shape) == 4 else r.permutation(len(shape))
    target = [shape[axis] for axis in order]
    source, output = (activation(n, s, dtype, 0.1, 3) for n, s in (("x", shape), ("y", target)))
    return case(r, "TRANSPOSE", (source, constant("axes", np.array(order, np.int32))), output)


def strided_slice(r: Random) -> Case:
    """Anything that leaves something: begins and ends from either side, strides both ways, masks, axes that shrink."""
    dtype = pick(r, [INT8, INT8, FLOAT, DType.INT32, INT16, DType.BOOL])
    while True:
        shape = tuple(span(r, 1, 5) for _ in range(span(r, 1, 4)))
        begins, ends = ([span(r, -size - 1, size + 1) for size in shape] for _ in range(2))
        strides = [pick(r, [1, 1, 1, 2, -1, -2]) for _ in shape]
        begin_mask, end_mask = (int(r.integers(1 << len(shape))) for _ in range(2))
        shrink = pick(r, [0, 0, int(r.integers(1 << len(shape)))])
        cuts: list[slice | int] = []
        for axis, size in enumerate(shape):
            if shrink >> axis & 1:
                begins[axis], strides[axis] = span(r, -size, size - 1), 1
                cuts.append(0 if begin_mask >> axis & 1 else begins[axis])
            else:
                first = None if begin_mask >> axis & 1 else begins[axis]
                last = None if end_mask >> axis & 1 else ends[axis]
                cuts.append(slice(first, last, strides[axis]))
        target = np.empty(shape, np.int8)[tuple(cuts)].shape
        if 0 not in target:
            break
    source, output = activation("x", shape, dtype, 0.1, 0), activation("y", target, dtype, 0.1, 0)
    ends = [e if not shrink >> a & 1 else begins[a] + 1 for a, e in enumerate(ends)]
    numbers = [constant(n, np.array(v, np.int32)) for n, v in (("b", begins), ("e", ends), ("s", strides))]
    options = StridedSlice(begin_mask, end_mask, 0, 0, shrink)
    return case(r, "STRIDED_SLICE", (source, *numbers), output, options)
