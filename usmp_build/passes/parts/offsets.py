"""Computes the offsets of parts in a whole, for operators that only concatenate, split or slice tensors.

Parts are contiguous if every axis in front of the one that is cut has the extent 1:

    [1, 3, 8] and [1, 5, 8]  →  [1, 8, 8]      along axis 1: 24 bytes, then 40
    [4, 3, 8] and [4, 5, 8]  →  [4, 8, 8]      along axis 1: four times 24 and 40 bytes, interleaved, which is refused

Along the last axis they are interleaved in every pixel, at a pixel stride (pitch):

    [4, 3, 8] and [4, 3, 12] →  [4, 3, 20]     along axis 2: 8 and 12 bytes, interleaved, pitch 20
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import NamedTuple

from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.options import Activation
from usmp_build.operators.joining import Concatenation, Pack, Unpack
from usmp_build.operators.slicing import StridedSlice, Taken, sliced, strided

_WIDTHS = {8, 16, 32, 64}
_QUANTIZED = {DType.INT8, DType.UINT8, DType.INT16, DType.INT32}


class Cut(NamedTuple):
    """A tensor, its parts, and the offset of each in bytes."""

    whole: int
    parts: tuple[int, ...]
    offsets: tuple[int, ...]
    pitch: int = 0
    """Bytes from one pixel of a part to the next; 0: the parts are contiguous."""


def joined(graph: Subgraph, op: Operator) -> Cut | None:
    """Return the inputs of an operator as parts of its output; None if they are not."""
    parts = tuple(tensor for tensor in op.inputs if tensor is not None)
    if len(op.outputs) != 1 or not parts or len(parts) != len(op.inputs):
        return None
    rank = max(1, len(graph.tensors[op.outputs[0]].shape))
    match op.options:
        case Concatenation(axis=axis, activation=Activation.NONE) | Pack(axis=axis):
            return _along(graph, op.outputs[0], parts, axis % rank)
    return None


def cut(graph: Subgraph, op: Operator) -> Cut | None:
    """Return the outputs of an operator as parts of its input; None if they are not."""
    if op.kind in {"SPLIT", "SPLIT_V", "UNPACK"}:
        source, axis = _source_and_axis(graph, op)
        if source is None or axis is None:
            return None
        rank = len(graph.tensors[source].shape)
        return _along(graph, source, op.outputs, axis % rank) if -rank <= axis < rank else None
    if op.kind in {"SLICE", "STRIDED_SLICE"} and op.inputs and op.inputs[0] is not None and len(op.outputs) == 1:
        taken = _indices(graph, op)
        return _taken(graph, op.inputs[0], op.outputs[0], taken) if taken else None
    return None


def _source_and_axis(graph: Subgraph, op: Operator) -> tuple[int | None, int | None]:
    """Return what SPLIT, SPLIT_V or UNPACK cuts, and along which axis; None for what is not known."""
    if isinstance(op.options, Unpack):
        return op.inputs[0], op.options.axis
    axes = _numbers(graph, op, 0 if op.kind == "SPLIT" else 2)
    position = 1 if op.kind == "SPLIT" else 0
    source = op.inputs[position] if position < len(op.inputs) else None
    return source, axes[0] if axes and len(axes) == 1 else None


def _along(graph: Subgraph, whole: int, parts: Sequence[int], axis: int) -> Cut | None:
    """Return parts that are side by side along an axis; None if they cannot be aliased."""
    return _contiguous(graph, whole, parts, axis) or _interleaved(graph, whole, parts, axis)


def _interleaved(graph: Subgraph, whole: int, parts: Sequence[int], axis: int) -> Cut | None:
    """Return parts that are some channels of every pixel."""
    tensor, part_tensors = graph.tensors[whole], [graph.tensors[part] for part in parts]
    *pixels, channels = tensor.shape
    if axis != len(pixels) or any(list(part.shape[:-1]) != pixels or not part.shape for part in part_tensors):
        return None
    if (
        not all(_is_alike(part, tensor) for part in part_tensors)
        or sum(part.shape[-1] for part in part_tensors) != channels
    ):
        return None
    width = tensor.dtype.bits // 8
    offsets = accumulate((part.shape[-1] * width for part in part_tensors[:-1]), initial=0)
    return Cut(whole, tuple(parts), tuple(offsets), channels * width)


def _contiguous(graph: Subgraph, whole: int, parts: Sequence[int], axis: int) -> Cut | None:
    shape = graph.tensors[whole].shape
    sizes = [graph.tensors[part].size for part in parts]
    if prod(shape[:axis]) != 1 or sum(sizes) != graph.tensors[whole].size:
        return None
    if not all(_is_alike(graph.tensors[part], graph.tensors[whole]) for part in parts):
        return None
    return Cut(whole, tuple(parts), tuple(accumulate(sizes[:-1], initial=0)))


def _is_contiguous(shape: Sequence[int], taken: Sequence[range]) -> bool:
    """Tell whether these indices are one of each axis, then a range, then whole axes."""
    cut_at = next((axis for axis, indices in enumerate(taken) if len(indices) != 1), len(taken))
    inner = list(zip(taken, shape, strict=True))[cut_at:]
    is_dense = all(indices.step == 1 for indices, _ in inner)
    return is_dense and all(len(indices) == extent for indices, extent in inner[1:])


def _taken(graph: Subgraph, whole: int, part: int, taken: Sequence[range]) -> Cut | None:
    """Return a part with these indices along each axis, if it is contiguous or a range of channels.

    That is one index of each axis, then a range, then whole axes; or whole axes, then a range of channels.
    """
    source, output = graph.tensors[whole], graph.tensors[part]
    if len(taken) != len(source.shape) or not _is_alike(source, output):
        return None
    count = prod(len(indices) for indices in taken)
    offset = sum(indices.start * prod(source.shape[axis + 1 :]) for axis, indices in enumerate(taken))
    width = source.dtype.bits // 8
    if not count or count != output.elements:
        return None
    if _is_contiguous(source.shape, taken):
        return Cut(whole, (part,), (offset * width,))
    are_channels = taken[-1].step == 1 and list(taken[:-1]) == [range(extent) for extent in source.shape[:-1]]
    if are_channels and output.shape == (*source.shape[:-1], len(taken[-1])):
        return Cut(whole, (part,), (offset * width,), source.shape[-1] * width)
    return None


def _is_alike(part: Tensor, whole: Tensor) -> bool:
    """Tell whether the same bytes stand for the same numbers in both."""
    is_same = part.dtype is whole.dtype and part.dtype.bits in _WIDTHS and not part.dtype.name.startswith("COMPLEX")
    return is_same and (part.dtype not in _QUANTIZED or part.quantization == whole.quantization)


def _indices(graph: Subgraph, op: Operator) -> Taken | None:
    """Return the indices that SLICE or STRIDED_SLICE takes along each axis; None unless its strides are 1."""
    shape, options = graph.tensors[op.inputs[0] or 0].shape, op.options
    begins, sizes_or_ends, strides = (_numbers(graph, op, position) for position in (1, 2, 3))
    if begins is None or sizes_or_ends is None:
        return None
    if op.kind == "SLICE":
        return sliced(shape, begins, sizes_or_ends)
    if strides is None or any(stride != 1 for stride in strides) or not isinstance(options, StridedSlice):
        return None
    return strided(options, shape, begins, sizes_or_ends, strides)


def _numbers(graph: Subgraph, op: Operator, position: int) -> list[int] | None:
    """Return the integers of a constant input; None when it has none."""
    tensor = op.inputs[position] if position < len(op.inputs) else None
    constant = None if tensor is None else graph.tensors[tensor]
    if (
        constant is None
        or constant.data is None
        or constant.is_withheld
        or constant.dtype not in {DType.INT32, DType.INT64}
    ):
        return None
    return [int(number) for number in constant.as_array().reshape(-1)]
