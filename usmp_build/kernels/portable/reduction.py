"""MEAN and SUM: rows are added up in scratch."""

from __future__ import annotations

from math import prod
from typing import NamedTuple, TypeAlias

from usmp_build.arithmetic.fixed_point import divided, single
from usmp_build.interfaces.kernels import Input, Kernel, Output, Reduce, Scratch, ScratchRequest, Traffic
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Activation
from usmp_build.kernels.activation import quantized_limits
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import kernel
from usmp_build.kernels.nests_of_sums import Shares, added_up
from usmp_build.kernels.node import LARGEST, Node, Unsupported, integer_range, unsupported_types
from usmp_build.kernels.portable.reduced_axes import Split, along_axes, reduced_axes, split
from usmp_build.kernels.requantization import factor, output_fields, scale_fields
from usmp_build.kernels.window import Slide

_TYPES = {DType.INT8, DType.INT16, DType.FLOAT32}

SUM_BYTES = 4
"""Of an int32 or a float32."""

Fields: TypeAlias = tuple[tuple[str, int | float], ...]


class Block(NamedTuple):
    """A tensor as images of rows of pixels of channels; rows and pixels are added up."""

    images: int
    rows: int
    width: int
    channels: int


def mean(node: Node) -> Kernel:
    """The mean along axes."""
    return _sums(node, split(node.input(0).shape, reduced_axes(node)).size)


def total(node: Node) -> Kernel:
    """The sum along axes."""
    return _sums(node, 1)


def _sums(node: Node, divisor: int) -> Kernel:
    """Sums along axes, divided: along axes that lie side by side, rows are added up."""
    source, output = node.input(0), node.output
    axes = split(source.shape, reduced_axes(node))
    node.expect(output.elements * axes.size == source.elements, "makes another number of sums than its output holds")
    if source.dtype is not output.dtype or source.dtype not in _TYPES:
        raise unsupported_types(source, output)
    is_real = source.dtype.is_float
    fields: Fields = (("divisor", single(divisor)),) if is_real else _integer_fields(node, axes.size, divisor)
    if len(axes.reduced) > 1 or (axes.reduced[-1:] and axes.reduced[-1].step == 1):
        struct = "reduce_sum_f32_parameters" if is_real else "reduce_sum_parameters"
        return along_axes(node, axes, c_name("reduce_sum", source.dtype), struct, *fields)
    function, struct = c_name("mean", source.dtype), c_name("mean", source.dtype, part="parameters")
    block = block_of(source.shape, axes)
    additions = block.rows * block.width if is_real else block.rows
    return row_by_row(node, block, function, struct, fields, additions)


def block_of(shape: tuple[int, ...], axes: Split) -> Block:
    """Return the image whose rows are reduced: along no axis, or along some that lie side by side, but not the last."""
    if not axes.reduced:
        return Block(prod(shape[:-1]), 1, 1, prod(shape[-1:]))
    ((count, channels),) = axes.reduced
    images = prod(shape) // count // channels
    rows = next(size for i, size in enumerate(shape) if size > 1 and prod(shape[i:]) == count * channels)
    return Block(images, rows, count // rows, channels)


def _integer_fields(node: Node, count: int, divisor: int) -> Fields:
    """The factor also divides."""
    source, output = node.input(0), node.output
    lowest, highest = integer_range(source.dtype)
    if count * (highest - lowest) > LARGEST:
        raise Unsupported(f"it adds up {count:,} elements, whose sum may not fit 32 bits")
    scale = divided(factor(node, node.scale(source) / node.scale(output)), divisor)
    return (
        ("offset", -node.zero_point(source) * count),
        *scale_fields(scale),
        *output_fields(node, quantized_limits(node, Activation.NONE, output)),
    )


def row_by_row(node: Node, block: Block, function: str, struct: str, others: Fields, additions: int) -> Kernel:
    """Return the kernel that adds up the rows of each image, in sums of 32 bits, or whatever it does in their place.

    `others` are the parameters of the function after the width and the channels; a sum is read and written `additions`
    times while it grows.
    """
    source, output = node.streamed(), node.output
    form = Reduce(
        images=block.images,
        rows=block.rows,
        input_row_elements=block.width * block.channels,
        output_row_elements=block.channels,
        any_order=not source.dtype.is_float,
    )
    counts = ("width", block.width), ("channels", block.channels)
    each = SUM_BYTES * output.elements * (additions + 1)  # a sum is begun, added to, and read at the end
    sums = DType.FLOAT32 if source.dtype.is_float else DType.INT32
    return kernel(
        node,
        function,
        added_up(1, Slide(block.width, window=block.width).under(block.channels), Shares(block.channels)),
        (*counts, *others),
        struct=struct,
        form=form,
        operands=(Input(0), Scratch(0), Output(0)),
        scratch=(ScratchRequest("sums", block.channels * SUM_BYTES, sums),),
        moved={Scratch(0): Traffic(each, each)},
    )
