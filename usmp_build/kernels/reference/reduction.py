"""MEAN: rows are added up in scratch."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from usmp_build.arithmetic.fixed_point import divided, single
from usmp_build.interfaces.accesses import Window
from usmp_build.interfaces.kernels import (
    Input,
    Kernel,
    KernelCall,
    Output,
    Parameters,
    Reduce,
    Scratch,
    ScratchRequest,
    Traffic,
)
from usmp_build.ir.graph import DType
from usmp_build.kernels.reference.accesses_of_sums import Row, Shares, added_up_accesses
from usmp_build.kernels.reference.node import LARGEST, Node, Unsupported, integer_range, unsupported_types
from usmp_build.kernels.reference.requantization import factor

_SUFFIXES = {DType.INT8: "s8", DType.INT16: "s16"}


class _Block(NamedTuple):
    """A tensor as images of rows of pixels of channels; rows and pixels are averaged."""

    images: int
    rows: int
    width: int
    channels: int

    @property
    def size(self) -> int:
        """Number of elements that become one."""
        return self.rows * self.width


def mean(node: Node) -> Kernel:
    """The mean along axes that lie side by side."""
    source, output = node.streamed(), node.output
    block = _block(node)
    node.expect(output.elements == block.images * block.channels, "makes another number of means than its output holds")
    if source.dtype is output.dtype and source.dtype in _SUFFIXES:
        return _kernel(node, block, f"mean_{_SUFFIXES[source.dtype]}", _integer_fields(node, block))
    if (source.dtype, output.dtype) == (DType.FLOAT32, DType.FLOAT32):
        return _kernel(node, block, "mean_f32", (("count", single(block.size)),))
    raise unsupported_types(source, output)


def _block(node: Node) -> _Block:
    shape = node.input(0).shape
    all_axes = node.integers(1, "axes")
    node.expect(all(-len(shape) <= axis < len(shape) for axis in all_axes), "averages along axes that its input lacks")
    axes = sorted({axis % len(shape) for axis in all_axes if shape[axis] > 1})
    if not axes:
        return _Block(prod(shape[:-1]), 1, 1, prod(shape[-1:]))
    first, last = axes[0], axes[-1]
    if any(shape[axis] > 1 and axis not in axes for axis in range(first, last)):
        raise Unsupported("it averages along axes that are not adjacent")
    images, reduced, channels = prod(shape[:first]), shape[first : last + 1], prod(shape[last + 1 :])
    if channels == 1:  # a row of a single number would need a call each
        return _Block(images, 1, prod(reduced), 1)
    return _Block(images, reduced[0], prod(reduced[1:]), channels)


def _integer_fields(node: Node, block: _Block) -> tuple[tuple[str, int], ...]:
    """The factor also divides by the count."""
    source, output = node.input(0), node.output
    lowest, highest = integer_range(source.dtype)
    if block.size * (highest - lowest) > LARGEST:
        raise Unsupported(f"it averages {block.size:,} elements, whose sum may not fit 32 bits")
    scale = divided(factor(node, node.scale(source) / node.scale(output)), block.size)
    return (
        ("offset", -node.zero_point(source) * block.size),
        ("multiplier", scale.multiplier),
        ("shift", scale.shift),
        ("output_zero_point", node.zero_point(output)),
        ("low", lowest - node.zero_point(output)),
        ("high", highest - node.zero_point(output)),
    )


def _kernel(node: Node, block: _Block, function: str, others: tuple[tuple[str, int | float], ...]) -> Kernel:
    """Return the kernel that adds up the rows of each image, and makes averages of the sums, which have 32 bits.

    `others` are the parameters of the function after the width and the channels.
    """
    source, output = node.input(0), node.output
    form = Reduce(
        images=block.images,
        rows=block.rows,
        input_row_elements=block.width * block.channels,
        output_row_elements=block.channels,
        any_order=not source.dtype.is_float,
    )
    fields = (("width", block.width), ("channels", block.channels), *others)
    parameters = Parameters(f"{function}_parameters", fields)
    each = 4 * (source.elements + output.elements)  # a sum is begun, added to by every element, and read at the end
    traffic = (Traffic(source.size), Traffic(each, each), Traffic(written=output.size))
    operands = (Input(0), Scratch(0), Output(0))
    row = Row(1, block.channels, Window(0, block.channels, block.width, block.width))
    accesses = added_up_accesses(row, Shares(block.channels, 1, 1), source.dtype.bits // 8, len(operands), scratch=1)
    call = KernelCall(function, form, operands, parameters, traffic, accesses=accesses)
    sums = DType.FLOAT32 if source.dtype.is_float else DType.INT32
    return Kernel((call,), scratch=(ScratchRequest("sums", block.channels * 4, sums),))


KERNELS = {"MEAN": mean}
