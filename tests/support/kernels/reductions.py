"""Models of reductions: sums, extremes and their places along any axes."""

from collections.abc import Callable

import numpy as np

from tests.support.kernels.drawing import FLOAT, INT8, INT16, Case, Random, activation, case, constant, pick, span
from usmp_build.ir.graph import DType
from usmp_build.operators.reductions import Cumsum, L2Normalization, Reducer

_TYPES = {
    "MEAN": [INT8, INT8, INT16, FLOAT],
    "REDUCE_ALL": [DType.BOOL],
    "REDUCE_MAX": [INT8, FLOAT],
    "REDUCE_MIN": [INT8, FLOAT],
    "SUM": [INT8, INT8, INT16, FLOAT],
}
_MOST_DIMENSIONS = 5
_WIDE = "MEAN", "SUM"
"""What may have rows of more pixels than sums of 16 bits hold."""


def reduction(kind: str) -> Callable[[Random], Case]:
    """Axes lie side by side or not, some are named twice, some from behind; at times there are none."""

    def make(r: Random) -> Case:
        dtype = pick(r, _TYPES[kind])
        rank = span(r, 1, _MOST_DIMENSIONS)
        shape = tuple(span(r, 1, 6) for _ in range(rank))
        if kind in _WIDE and r.integers(4) == 0:
            shape, rank = (span(r, 1, 2), 2, pick(r, [33, 300]), span(r, 4, 6)), 4
        axes = np.flatnonzero(r.integers(2, size=rank))
        if len(axes) == 0 and r.integers(2):
            axes = np.array([span(r, 0, rank - 1)])
        keep = bool(r.integers(2))
        reduced = np.empty(shape, np.int8).sum(axis=tuple(axes), keepdims=keep).shape
        named = [int(pick(r, [axis, axis - rank])) for axis in axes]
        r.shuffle(named)
        source = activation("x", shape, dtype, r.uniform(0.01, 0.2), r=r)
        output = activation("y", reduced, dtype, *_target(r, kind, source, np.prod(shape) / max(1, np.prod(reduced))))
        return case(r, kind, (source, constant("axes", np.array(named, np.int32))), output, Reducer(keep))

    return make


def _target(r: Random, kind: str, source: object, count: float) -> tuple[float, int | None, Random]:
    quantization = getattr(source, "quantization", None)
    if quantization is None:
        return 1.0, 0, r
    scale, zero_point = quantization.scales[0], quantization.zero_points[0]
    if kind.startswith("REDUCE_"):
        return scale, zero_point, r
    scale *= pick(r, [1.0, r.uniform(0.2, 2)]) * (count**0.5 if kind == "SUM" else 1.0)
    return scale, None, r


def arg_extreme(kind: str) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        rank = span(r, 1, 4)
        shape = tuple(span(r, 1, 6) for _ in range(rank))
        axis = span(r, 0, rank - 1)
        source = activation("x", shape, pick(r, [INT8, FLOAT]), 0.1, r=r)
        output = activation("y", (*shape[:axis], *shape[axis + 1 :]), DType.INT32, 1.0, 0)
        named = constant("axis", np.array([pick(r, [axis, axis - rank])], np.int32))
        return case(r, kind, (source, named), output)

    return make


def cumsum(r: Random) -> Case:
    """Sums of more than 15 integers may wrap."""
    rank = span(r, 1, 4)
    shape = [span(r, 1, 6) for _ in range(rank)]
    axis = span(r, -rank, rank - 1)
    shape[axis] = pick(r, [shape[axis], span(r, 1, 40)])
    dtype = pick(r, [INT8, INT8, FLOAT])
    scale = r.uniform(0.001, 0.2)
    source = activation("x", shape, dtype, scale, r=r)
    output = activation("y", shape, dtype, scale * pick(r, [1.0, r.uniform(0.1, 10)]), r=r)
    named = constant("axis", np.array([axis], np.int32))
    return case(r, "CUMSUM", (source, named), output, Cumsum(bool(r.integers(2)), bool(r.integers(2))))


def l2_normalization(r: Random) -> Case:
    """Rows of all sizes of numbers, down to 0."""
    shape = [*(span(r, 1, 4) for _ in range(span(r, 0, 3))), pick(r, [1, 2, 10, 300])]
    dtype = pick(r, [INT8, INT8, FLOAT])
    source = activation("x", shape, dtype, 0.1, r=r)
    example = case(r, "L2_NORMALIZATION", (source,), activation("y", shape, dtype, 1 / 128, 0), L2Normalization())
    if dtype is FLOAT:
        return Case(example.graph, (example.inputs[0] * np.float32(10.0 ** span(r, -9, 3)),))
    middle, reach = source.quantization.zero_points[0], pick(r, [0, 1, 3, 40, 255])
    values = np.clip(middle + r.integers(-reach, reach, shape, endpoint=True), -128, 127)
    return Case(example.graph, (values.astype(np.int8),))


def log_softmax(r: Random) -> Case:
    shape = [*(span(r, 1, 4) for _ in range(span(r, 0, 3))), pick(r, [1, 2, 10, 300])]
    dtype = pick(r, [INT8, INT8, FLOAT])
    step = pick(r, [r.uniform(0.001, 0.5), r.uniform(1e-7, 1e-3), 20.0])
    source = activation("x", shape, dtype, step, r=r)
    return case(r, "LOG_SOFTMAX", (source,), activation("y", shape, dtype, 1 / 16, 127))


CASES: dict[str, Callable[[Random], Case]] = {
    **{kind: reduction(kind) for kind in _TYPES},
    "CUMSUM": cumsum,
    "L2_NORMALIZATION": l2_normalization,
    "LOG_SOFTMAX": log_softmax,
    **{kind: arg_extreme(kind) for kind in ("ARG_MAX", "ARG_MIN")},
}
