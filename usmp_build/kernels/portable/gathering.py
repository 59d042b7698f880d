"""GATHER, GATHER_ND, EMBEDDING_LOOKUP and DYNAMIC_UPDATE_SLICE: places come at run time.

An index that an axis does not have is the nearest that it has, so that nothing else is ever touched.  What is gathered
may be read anywhere and in any order: these reads are not declared, and nothing overlaps what they read.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, Output, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import InTurn, Moved, Nest, aside, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.portable.copies import check_types
from usmp_build.kernels.portable.moves import byte_steps
from usmp_build.kernels.portable.packed_weights import perhaps_packed
from usmp_build.kernels.requantization import int32_constant
from usmp_build.operators.gathering import Gather, gathered

_MOST_DIMENSIONS = 8
"""Of DYNAMIC_UPDATE_SLICE."""
START_TYPES = {DType.INT32, DType.INT64}
"""Of functions, by the type of the numbers that say where a part begins."""


def gather(node: Node) -> Kernel:
    """GATHER: along one axis, with the same indices for all groups of a batch."""
    shape, indices = node.input(0).shape, node.input(1).shape
    fits = gathered(shape, indices, node.options(Gather))
    node.expect(fits is not None, f"does not fit indices of shape {list(indices)} to {list(shape)}")
    axis, batches, expected = fits or (0, 0, ())
    node.expect(expected == node.output.shape, f"makes a tensor of shape {list(expected)}")
    return _gathered(
        node,
        (Input(0), Input(1)),
        batches=prod(shape[:batches]),
        groups=prod(shape[batches:axis]),
        count=prod(indices[batches:]),
        extents=shape[axis : axis + 1],
        inner=prod(shape[axis + 1 :]),
    )


def gather_nd(node: Node) -> Kernel:
    """GATHER_ND: an index for each of the first axes."""
    shape, (*count, depth) = node.input(0).shape, node.input(1).shape or (0,)
    node.expect(0 < depth <= len(shape), "has no indices for the axes of its input")
    expected = (*count, *shape[depth:])
    node.expect(expected == node.output.shape, f"makes a tensor of shape {list(expected)}")
    return _gathered(
        node,
        (Input(0), Input(1)),
        batches=1,
        groups=1,
        count=prod(count),
        extents=shape[:depth],
        inner=prod(shape[depth:]),
    )


def embedding_lookup(node: Node) -> Kernel:
    """EMBEDDING_LOOKUP: an index of the first axis; of int4 as LiteRT, where each row may have a scale."""
    if node.input(1).dtype is DType.INT8 and node.output.dtype is DType.FLOAT32:
        node.scale(node.input(1))
    return _rows_of_table(node)


@perhaps_packed
def _rows_of_table(node: Node) -> Kernel:
    (count,), shape = node.input(0).shape, node.input(1).shape
    node.expect(node.output.shape == (count, *shape[1:]), f"does not look up {count} of {list(shape)}")
    if (node.input(1).dtype, node.output.dtype) == (DType.INT8, DType.FLOAT32):
        return _dequantized(node, count, shape[0], prod(shape[1:]))
    return _gathered(
        node,
        (Input(1), Input(0)),
        batches=1,
        groups=1,
        count=count,
        extents=shape[:1],
        inner=prod(shape[1:]),
    )


def _dequantized(node: Node, count: int, rows: int, size: int) -> Kernel:
    """EMBEDDING_LOOKUP of weights: rows of `size` int8 become floats."""
    table = node.input(1)
    _check_indices(node, Input(0))
    scales, quantization = node.scales(table, rows), table.quantization
    if quantization is not None and any(quantization.zero_points):
        raise Unsupported(f"{node.label(table)} has a zero point other than 0")
    if len(scales) > 1 and quantization is not None and quantization.axis != 0:
        raise Unsupported(f"{node.label(table)} is quantized along axis {quantization.axis}")
    fields = (("count", count), ("rows", rows), ("size", size), ("scale_step", int(len(scales) > 1)))
    spans = aside(Input(1), size), reads(Input(0)), aside(Derived(0)), writes(Output(0), size)
    return kernel(
        node,
        c_name("embedding_lookup", DType.INT8, DType.FLOAT32),
        Nest({"rows": count}, spans),
        fields,
        struct="embedding_lookup_parameters",
        constants=(Constant("scale", DType.FLOAT32, np.array(scales, "<f4").tobytes()),),
    )


def _gathered(
    node: Node,
    operands: tuple[Input, Input],
    *,
    batches: int,
    groups: int,
    count: int,
    extents: Sequence[int],
    inner: int,
) -> Kernel:
    """Return the kernel that takes `count` runs of each group.

    `operands` are the data and the indices: those of a batch are the same for all of its groups.
    """
    data, depth = node.tensor(operands[0]), len(extents)
    check_types(data, node.output)
    _check_indices(node, operands[1])
    size = inner * data.dtype.bits // 8
    steps = byte_steps(extents, size)
    fields = (
        ("batches", batches),
        ("groups", groups),
        ("count", count),
        ("depth", depth),
        ("group_size", prod(extents) * size),
        ("size", size),
    )
    spans = (
        aside(operands[0], inner),
        reads(operands[1], depth, {"batches": count * depth, "runs": depth}),
        aside(Derived(0), 2 * depth),
        writes(Output(0), inner),
    )
    nest = Nest({"batches": batches, "groups": groups, "runs": count}, spans)
    axes = int32_constant("axes", (number for axis in zip(extents, steps, strict=True) for number in axis))
    return kernel(node, "gather", nest, fields, constants=(axes,))


def dynamic_update_slice(node: Node) -> Kernel:
    """DYNAMIC_UPDATE_SLICE: a copy of the input, then the update in its place."""
    source, update, starts, output = (*node.inputs[:3], node.output)
    check_types(source, output)
    check_types(update, output)
    if starts.dtype not in START_TYPES:
        raise Unsupported(f"it has no kernel for starts of type {starts.dtype.name}")
    shape, part = source.shape, update.shape
    fits = len(part) == len(shape) and all(here <= size for here, size in zip(part, shape, strict=True))
    node.expect(fits and output.shape == shape, f"has an update of shape {list(part)} for {list(shape)}")
    node.expect(starts.elements == len(shape) > 0, "does not have a start for each axis")
    if len(shape) > _MOST_DIMENSIONS:
        raise Unsupported(f"it has more than {_MOST_DIMENSIONS} dimensions")
    width, run = source.dtype.bits // 8, part[-1]
    lines = prod(part[:-1])
    fields = (("whole", source.size), ("lines", lines), ("line_size", run * width), ("axes", len(shape)))
    moved: Moved = {Derived(0): Traffic(lookups(shape, lines)), Output(0): Traffic(written=source.size + update.size)}
    spans = reads(Input(2), starts.elements), reads(Input(0), source.elements), writes(Output(0), source.elements)
    updated = Nest({"lines": lines}, (reads(Input(1), run),))
    return kernel(
        node,
        c_name("dynamic_update_slice", starts.dtype),
        InTurn((Nest({}, spans), updated), phases=True),
        fields,
        struct="dynamic_update_slice_parameters",
        operands=(Input(0), Input(1), Input(2), Derived(0), Output(0)),
        constants=(axes_of_part(shape, part, width),),
        moved=moved,
    )


def lookups(shape: Sequence[int], lines: int) -> int:
    """Return the bytes that are read of the constant below: all of it, and for each line all but the first axis."""
    return 12 * len(shape) + 8 * lines * (len(shape) - 1)


def axes_of_part(shape: Sequence[int], part: Sequence[int], width: int) -> Constant:
    """Return for each axis of a tensor its size, that of a part, and the bytes from one index to the next."""
    table = zip(shape, part, byte_steps(shape, width), strict=True)
    return int32_constant("axes", (number for axis in table for number in axis))


def _check_indices(node: Node, operand: Input) -> None:
    dtype = node.tensor(operand).dtype
    if dtype is not DType.INT32:
        raise Unsupported(f"it has no kernel for indices of type {dtype.name}")
