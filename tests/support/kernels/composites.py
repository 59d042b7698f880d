"""Operators that converters write as several, drawn at random."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from tests.support.kernels.drawing import FLOAT, INT8, Case, Random, activation, constant, pick, span
from tests.support.kernels.rewritten import case_of
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.ir.options import Options, Padding
from usmp_build.operators.joining import Concatenation, Pack
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D

_NO_GRAPH = Subgraph("main", (), (0,), (), ())


class _Chain:
    """Operators that each read what the one before wrote."""

    def __init__(self, first: Tensor) -> None:
        self.tensors, self.operators, self.last = [first], list[Operator](), 0

    def add(
        self, kind: str, shape: Sequence[int], *more: Tensor, options: Options | None = None, times: int = 1
    ) -> None:
        """Add an operator whose output is like its first operand, but of another shape."""
        output = replace(self.tensors[self.last], name=f"t{len(self.tensors)}", shape=tuple(shape))
        number = len(self.tensors) + len(more)
        self.tensors += [*more, output]
        inputs = (*(self.last,) * times, *range(number - len(more), number))
        self.operators.append(Operator(kind, inputs, (number,), options))
        self.last = number

    def reshape(self, *shape: int) -> None:
        if shape != self.tensors[self.last].shape:
            self.add("RESHAPE", shape, numbers(shape))

    def case(self, r: Random) -> Case:
        return case_of(r, _NO_GRAPH, self.tensors, self.operators, {}, self.last)


def numbers(values: Sequence[int] | Sequence[Sequence[int]]) -> Tensor:
    return constant("numbers", np.array(values, np.int32))


def _tile(chain: _Chain, axis: int, times: int) -> None:
    shape = chain.tensors[chain.last].shape
    each = [times if at == axis else 1 for at in range(len(shape))]
    chain.add("TILE", [size * more for size, more in zip(shape, each, strict=True)], numbers(each))


def _broadcast(chain: _Chain, axis: int, times: int) -> None:
    shape = chain.tensors[chain.last].shape
    wanted = [*shape[:axis], times, *shape[axis + 1 :]]
    chain.add("BROADCAST_TO", wanted, numbers(wanted))


def _join(chain: _Chain, axis: int, times: int) -> None:
    shape = chain.tensors[chain.last].shape
    wanted = [*shape[:axis], times, *shape[axis + 1 :]]
    chain.add("CONCATENATION", wanted, options=Concatenation(axis), times=times)


REPEATS: dict[str, Callable[[_Chain, int, int], None]] = {
    "TILE": _tile,
    "BROADCAST_TO": _broadcast,
    "CONCATENATION": _join,
}
"""Operator kind → adds one that repeats the only index of an axis."""


def enlarged(kind: str, r: Random, rank: int) -> Case:
    """Draw an image or a signal, and repeat its rows, columns or samples: as Keras does, along axes of their own."""
    shape = [1, *(span(r, 1, 5) for _ in range(rank - 2)), span(r, 1, 3)]
    chain = _Chain(activation("x", shape, pick(r, [INT8, FLOAT]), 0.1, -3))
    for axis in r.permutation(range(1, rank - 1)):
        times = span(r, 2, 4)
        chain.reshape(*shape[: axis + 1], 1, *shape[axis + 1 :])
        REPEATS[kind](chain, int(axis) + 1, times)
        shape[axis] *= times
        if rank == 3 or r.integers(2):  # else one RESHAPE stands for two
            chain.reshape(*shape)
    chain.reshape(*shape)
    return chain.case(r)


def packed(r: Random) -> Case:
    """Draw an image whose rows are repeated by PACK."""
    _, height, width, channels = shape = (1, span(r, 2, 5), span(r, 1, 5), span(r, 1, 3))
    chain, times = _Chain(activation("x", shape, INT8, 0.1, -3)), span(r, 2, 4)
    chain.add("PACK", (1, height, times, width, channels), options=Pack(times, 2), times=times)
    chain.reshape(1, times * height, width, channels)
    return chain.case(r)


def dilated(kind: str, r: Random, rank: int) -> Case:
    """Draw a convolution between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: of an image, or of a signal between views."""
    axes, channels = rank - 2, span(r, 1, 4)
    images, blocks = span(r, 1, 2), [pick(r, [1, 2, 2, 3]) for _ in range(axes)]
    sizes, taps = ([span(r, *ends) for _ in range(axes)] for ends in ((3, 9), (1, 3)))
    is_same = bool(r.integers(3) == 0)
    borders = [_border(r, size, block, least) for size, block, least in zip(sizes, blocks, taps, strict=True)]
    small = [(size + sum(ends)) // block for size, ends, block in zip(sizes, borders, blocks, strict=True)]
    made = [size if is_same else size - each + 1 for size, each in zip(small, taps, strict=True)]
    crops = [_crop(r, block * size, ends) for size, block, ends in zip(made, blocks, borders, strict=True)]
    dtype = pick(r, [INT8, INT8, FLOAT])
    chain = _Chain(activation("x", (images, *sizes, channels), dtype, 0.1, pick(r, [0, 0, -3])))
    batches = images * prod(blocks)
    chain.add("SPACE_TO_BATCH_ND", (batches, *small, channels), numbers(blocks), numbers(borders))
    filters = channels if kind == "DEPTHWISE_CONV_2D" else span(r, 1, 5)
    before = [1] * (2 - axes)
    chain.reshape(batches, *before, *small, channels)
    window = [1] * (2 - axes) + taps
    shape = (1, *window, filters) if kind == "DEPTHWISE_CONV_2D" else (filters, *window, channels)
    weights = r.integers(-127, 128, shape).astype(dtype.numpy)
    scales = [] if dtype is FLOAT else [0.0005] * filters
    operands = (
        constant("weights", weights, scales, axis=3 if kind == "DEPTHWISE_CONV_2D" else 0),
        constant("bias", r.integers(-99, 99, filters).astype(np.float32 if dtype is FLOAT else np.int32), scales),
    )
    padding = Padding.SAME if is_same else Padding.VALID
    options = Conv2D(padding) if kind == "CONV_2D" else DepthwiseConv2D(padding)
    chain.add(kind, (batches, *before, *made, filters), *operands, options=options)
    chain.reshape(batches, *made, filters)
    left = [size * block - sum(ends) for size, block, ends in zip(made, blocks, crops, strict=True)]
    chain.add("BATCH_TO_SPACE_ND", (images, *left, filters), numbers(blocks), numbers(crops))
    return chain.case(r)


def _border(r: Random, size: int, block: int, taps: int) -> tuple[int, int]:
    """Draw a border with which blocks tile the image, and there is a place for the window in each small image."""
    before = span(r, 0, 3)
    whole = next(each for each in range(max(size + before, taps * block), 99) if each % block == 0)
    return before, whole - before - size


def _crop(r: Random, size: int, border: tuple[int, int]) -> tuple[int, int]:
    """Draw what is cut off: mostly no more than was padded."""
    most = border if r.integers(6) else (2, 2)
    before = span(r, 0, min(most[0], size - 1))
    return before, span(r, 0, min(most[1], size - 1 - before))
