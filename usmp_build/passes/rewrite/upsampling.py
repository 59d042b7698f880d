"""Finds images that are enlarged by whole factors, however their pixels are repeated, and makes it one operator.

    %3 = RESHAPE(%1)                            [1, 8, 1, 8, 4]      Keras's UpSampling2D of an image [1, 8, 8, 4]
    %4 = TILE(%3, [1, 1, 2, 1, 1])              [1, 8, 2, 8, 4]
    %5 = RESHAPE(%4)                            [1, 16, 8, 1, 4]
    %6 = TILE(%5, [1, 1, 1, 2, 1])              [1, 16, 8, 2, 4]
    %7 = RESHAPE(%6)                            [1, 16, 16, 4]       =  RESIZE_NEAREST_NEIGHBOR(%1, [16, 16])

What a chain of operators does is not read from their kinds: they move numbers, the indices of the elements of the first
tensor, and each must come to rest where the one operator takes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from typing import TypeAlias

import numpy as np

from usmp_build import effort
from usmp_build.ir.graph import DType, Operator, Tensor
from usmp_build.operators.kind import Family
from usmp_build.operators.resizing import ResizeNearest
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.edit import Net
from usmp_build.passes.rewrite.fold_constants import folded

Shape: TypeAlias = tuple[int, ...]

_TYPES = {DType.INT8, DType.INT16, DType.FLOAT32}
"""Of operands: shapes and axes have others."""
_LONGEST = 16
"""Most operators of a chain; Keras's have five."""
_MOST_PIXELS = (1 << 15) - 1
"""Along an axis that is resized."""
_IMAGE, _SIGNAL = 4, 3
"""Ranks: images, rows, columns, channels; or images, samples, channels."""
_BETWEEN_PIXELS = ResizeNearest(half_pixel_centers=True)
"""Output pixel y is at (y + 1/2) / factor of the input: never near a border of pixels, where a product may round up."""


@dataclass
class _Work:
    """What is left of the elements that may be moved, in all chains that are tried."""

    left: int = effort.MOVED_NUMBERS

    def spend(self, elements: int) -> bool:
        """Tell whether so many may be moved, and count them."""
        may = elements <= self.left
        self.left -= elements if may else 0
        return may


def upsampling(net: Net) -> None:
    """Replace chains of operators, from the last ones on; of those that end at a place, the longest."""
    work = _Work()
    for place in reversed(range(len(net.operators))):
        chain = [*islice(_chain(place, net), _LONGEST)][::-1]
        any(_replace(chain[first:], net, work) for first in range(len(chain)))


def _chain(place: int, net: Net) -> Iterator[int]:
    """Yield the places of operators, the last one first, that only move what they got from the one before."""
    op = last = net.operators[place]
    while op is not None and last is not None and net.pins.may_join(net.index, op, last):
        source = _moved(op, net)
        if source is None:
            return
        yield net.writers[op.outputs[0]]
        op = net.producer(source) if net.may_go(source) and len(net.readers[source]) == 1 else None


def _moved(op: Operator, net: Net) -> int | None:
    """Return the only tensor of which an operator moves elements; None where there are others."""
    kind = traits(op.kind)
    if kind.family is not Family.MOVER or kind.fold is None or len(op.outputs) != 1:
        return None
    output, data = net.graph.tensors[op.outputs[0]], list[int]()
    for index in op.inputs:
        tensor = None if index is None else net.graph.tensors[index]
        if index is not None and tensor is not None and tensor.dtype is output.dtype:
            data.append(index)
        elif tensor is not None and (tensor.is_withheld or not tensor.is_constant):
            return None
    return data[0] if len({*data}) == 1 and _is_same(net.graph.tensors[data[0]], output) else None


def _is_same(source: Tensor, output: Tensor) -> bool:
    """Tell whether elements mean the same in both tensors, and those of the first are computed in this run."""
    is_alike = source.quantization == output.quantization and output.dtype in _TYPES
    return is_alike and not source.is_constant and not source.is_variable


def _replace(chain: Sequence[int], net: Net, work: _Work) -> bool:
    """Replace a chain by a resize, between views if its ends are no images; return whether that was possible."""
    operators = [op for op in map(net.operators.__getitem__, chain) if op is not None]
    source, output = _moved(operators[0], net), operators[-1].outputs[0]
    if source is None:
        return False
    tensors = net.graph.tensors[source], net.graph.tensors[output]
    images = _images(tensors[0].shape, tensors[1].shape)
    if images is None or not work.spend(len(chain) * prod(images[1])) or not _enlarge(operators, source, images, net):
        return False
    before, after = (tensor.shape != image for tensor, image in zip(tensors, images, strict=True))
    if before + after >= len(chain):
        return False
    small = net.add(replace(tensors[0], shape=images[0])) if before else source
    large = net.add(replace(tensors[1], shape=images[1])) if after else output
    sizes = net.add_numbers("sizes", images[1][1:3])
    resize = Operator("RESIZE_NEAREST_NEIGHBOR", (small, sizes), (large,), _BETWEEN_PIXELS)
    views = [Operator("RESHAPE", (source,), (small,))] * before, [Operator("RESHAPE", (large,), (output,))] * after
    net.exchange(chain, [*views[0], resize, *views[1]])
    return True


def _images(source: Shape, output: Shape) -> tuple[Shape, Shape] | None:
    """Return the shapes of two images, of which the second is larger by whole factors; None if there are none."""
    if {len(source), len(output)} - {_IMAGE, _SIGNAL} or min(*source, *output) < 1:
        return None
    if _SIGNAL in (len(source), len(output)):
        source, output = _as_image(source), _as_image(output)
    (images, *small, channels), (*_, same_channels) = source, output
    large = output[1:3]
    fits = (images, channels) == (output[0], same_channels) and max(large) <= _MOST_PIXELS
    is_whole = all(after % before == 0 for before, after in zip(small, large, strict=True))
    return (source, output) if fits and is_whole and small != [*large] else None


def _as_image(shape: Shape) -> Shape:
    """Return a signal as an image of one column."""
    return shape[0], prod(shape[1:-1]), 1, shape[-1]


def _enlarge(operators: Sequence[Operator], source: int, images: tuple[Shape, Shape], net: Net) -> bool:
    """Tell whether operators put each element of an image where it is in the other one, if they are given numbers."""
    numbers = np.arange(prod(images[0]), dtype="<i4")
    tensors = list(net.graph.tensors)
    tensors[source] = replace(tensors[source], dtype=DType.INT32, data=numbers.tobytes())
    for op in operators:
        output = op.outputs[0]
        tensors[output] = replace(tensors[output], dtype=DType.INT32)
        moved = folded(op, tensors, has_shape=not traits(op.kind).only_shape)
        if moved is None:
            return False
        tensors[output] = moved
    down, across = (after // before for before, after in zip(images[0][1:3], images[1][1:3], strict=True))
    enlarged = numbers.reshape(images[0]).repeat(down, axis=1).repeat(across, axis=2)
    last = tensors[operators[-1].outputs[0]]
    return bool(np.array_equal(last.as_array().reshape(-1), enlarged.reshape(-1)))
