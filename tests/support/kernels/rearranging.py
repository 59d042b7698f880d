"""Random models of operators that only change the places of elements; see `cases`."""

from collections.abc import Callable

import numpy as np

from tests.support.kernels.drawing import FLOAT, INT8, INT16, Case, Random, activation, case, constant, pick, span
from usmp_build.ir.graph import DType
from usmp_build.operators.rearranging import Blocks, Mirror, MirrorPad

_WORD = DType.INT32


def blocks(kind: str) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        dtype, block = pick(r, [INT8, FLOAT]), span(r, 1, 4)
        images, height, width, channels = span(r, 1, 3), span(r, 1, 4), span(r, 1, 4), span(r, 1, 4)
        space = (images, height * block, width * block, channels)
        shapes = [space, (images, height, width, channels * block * block)]
        if kind == "DEPTH_TO_SPACE":
            shapes.reverse()
        source, output = (activation(n, s, dtype, 0.1, 3) for n, s in zip("xy", shapes, strict=True))
        return case(r, kind, (source,), output, Blocks(block))

    return make


def batches(kind: str) -> Callable[[Random], Case]:
    """Images of one or two dimensions; every third has no border."""

    def make(r: Random) -> Case:
        dtype, count = pick(r, [INT8, FLOAT]), span(r, 1, 2)
        block, small = ([span(r, 1, 3) for _ in range(count)] for _ in range(2))
        images, channels = span(r, 1, 3), span(r, 1, 3)
        whole = [a * b for a, b in zip(block, small, strict=True)]
        borders = [[span(r, 0, (size - 1) // 2), span(r, 0, (size - 1) // 2)] for size in whole]
        if r.integers(3) == 0:
            borders = [[0, 0]] * count
        space = [images, *(size - sum(border) for size, border in zip(whole, borders, strict=True)), channels]
        shapes = [space, [images * int(np.prod(block)), *small, channels]]
        if kind == "BATCH_TO_SPACE_ND":
            shapes.reverse()
        source, output = (activation(n, s, dtype, 0.1, 3) for n, s in zip("xy", shapes, strict=True))
        numbers = [constant(n, np.array(v, np.int32)) for n, v in (("blocks", block), ("borders", borders))]
        return case(r, kind, (source, *numbers), output)

    return make


def mirror_pad(r: Random) -> Case:
    dtype, mode = pick(r, [INT8, FLOAT]), pick(r, list(Mirror))
    shape = [span(r, 1, 4) for _ in range(span(r, 1, 4))]
    most = [size - (mode is Mirror.REFLECT) for size in shape]
    paddings = [[span(r, 0, each), span(r, 0, each)] if axis < 3 else [0, 0] for axis, each in enumerate(most)]
    r.shuffle(paddings[:3])
    target = [size + sum(pair) for size, pair in zip(shape, paddings, strict=True)]
    source, output = activation("x", shape, dtype, 0.1, 3), activation("y", target, dtype, 0.1, 3)
    return case(r, "MIRROR_PAD", (source, constant("p", np.array(paddings, np.int32))), output, MirrorPad(mode))


def reverse(r: Random) -> Case:
    """TensorFlow Lite Micro turns neighboring axes round only."""
    dtype = pick(r, [INT8, INT16, FLOAT, _WORD, DType.INT64, DType.BOOL])
    shape = [span(r, 1, 5) for _ in range(span(r, 1, 5))]
    first = span(r, 0, len(shape) - 1)
    axes = [pick(r, [axis, axis - len(shape)]) for axis in range(first, span(r, first, len(shape) - 1) + 1)]
    source, output = (activation(n, shape, dtype, 0.1, 3) for n in "xy")
    return case(r, "REVERSE_V2", (source, constant("axes", np.array(axes, np.int32))), output)


def broadcast_to(r: Random) -> Case:
    dtype = pick(r, [INT8, INT16, FLOAT, _WORD, DType.INT64, DType.BOOL])
    target = [span(r, 1, 4) for _ in range(span(r, 1, 5))]
    shape = [pick(r, [size, 1]) for size in target[span(r, 0, len(target) - 1) :]]
    source, output = activation("x", shape, dtype, 0.1, 3), activation("y", target, dtype, 0.1, 3)
    sizes = constant("shape", np.array(target, pick(r, [np.int32, np.int64])))
    return case(r, "BROADCAST_TO", (source, sizes), output)


def tile(r: Random) -> Case:
    dtype = pick(r, [INT8, INT16, FLOAT, _WORD, DType.INT64, DType.BOOL])
    shape = [span(r, 1, 4) for _ in range(span(r, 1, 4))]
    times = [pick(r, [1, span(r, 1, 3)]) for _ in shape]
    target = [size * each for size, each in zip(shape, times, strict=True)]
    source, output = activation("x", shape, dtype, 0.1, 3), activation("y", target, dtype, 0.1, 3)
    return case(r, "TILE", (source, constant("times", np.array(times, np.int32))), output)


CASES: dict[str, Callable[[Random], Case]] = {
    "BATCH_TO_SPACE_ND": batches("BATCH_TO_SPACE_ND"),
    "BROADCAST_TO": broadcast_to,
    "DEPTH_TO_SPACE": blocks("DEPTH_TO_SPACE"),
    "MIRROR_PAD": mirror_pad,
    "REVERSE_V2": reverse,
    "SPACE_TO_BATCH_ND": batches("SPACE_TO_BATCH_ND"),
    "SPACE_TO_DEPTH": blocks("SPACE_TO_DEPTH"),
    "TILE": tile,
}
