"""Computes the output shape of operators that return all elements of their input, in order, and nothing else.

    PAD of nothing             the input's
    SLICE from 0, all of it    the input's
    TRANSPOSE that moves only axes of one index, PACK of one part, MEAN over one element    with other axes of 1

The shape follows from operands and options: a model may declare another one.  Such a model is invalid, and is reported
when kernels are selected; a rewrite that removed the operator would hide the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from usmp_build.ir.graph import Operator
from usmp_build.operators.joining import Concatenation, Pack, Unpack
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.reductions import Reducer
from usmp_build.operators.slicing import StridedSlice, Taken, shape_left, sliced, strided
from usmp_build.passes.rewrite.edit import Net

Shape: TypeAlias = tuple[int, ...]


def unchanged(op: Operator, source: int, net: Net) -> Shape | None:
    """Return the shape of an operator's output; None unless that is its input, element by element."""
    shape = net.graph.tensors[source].shape
    if op.kind == "TRANSPOSE":
        return _transposed(op, source, net)
    return _SHAPES[op.kind](op, shape, net) if op.kind in _SHAPES else shape


def _as_declared(op: Operator, _: Shape, net: Net) -> Shape:
    """Return the declared shape: any shape with as many elements is valid."""
    return net.graph.tensors[op.outputs[0]].shape


def _padded(op: Operator, shape: Shape, net: Net) -> Shape | None:
    """Return the shape if nothing is padded, and PADV2 has a valid value."""
    value = net.tensor(op.inputs[2]) if len(op.inputs) > 2 else None
    fits = value is None or (value.elements == 1 and value.dtype is net.graph.tensors[op.outputs[0]].dtype)
    return shape if fits and net.integers(op, 1) == [0] * 2 * len(shape) else None


def _pooled(op: Operator, shape: Shape, _: Net) -> Shape | None:
    """Return the shape if the window visits every pixel: strides are 1, or there is one pixel."""
    options = op.options
    if not isinstance(options, Pool2D) or len(shape) != 4:
        return None
    steps = zip(shape[1:3], (options.stride_h, options.stride_w), strict=True)
    return shape if all(size == 1 or stride == 1 for size, stride in steps) else None


def _averaged(op: Operator, shape: Shape, net: Net) -> Shape | None:
    axes = net.integers(op, 1)
    if axes is None or not all(_is_one(axis, shape) for axis in axes):
        return None
    if isinstance(op.options, Reducer) and op.options.keep_dims:
        return shape
    gone = {axis % len(shape) for axis in axes}
    return tuple(size for axis, size in enumerate(shape) if axis not in gone)


def _is_one(axis: int, shape: Shape) -> bool:
    return -len(shape) <= axis < len(shape) and shape[axis] == 1


def _joined(op: Operator, shape: Shape, _: Net) -> Shape | None:
    axis = op.options.axis if isinstance(op.options, Concatenation) else 0
    return shape if -len(shape) <= axis < len(shape) else None


def _packed(op: Operator, shape: Shape, _: Net) -> Shape | None:
    axis, rank = op.options.axis if isinstance(op.options, Pack) else 0, len(shape) + 1
    return (*shape[: axis % rank], 1, *shape[axis % rank :]) if -rank <= axis < rank else None


def _unpacked(op: Operator, shape: Shape, _: Net) -> Shape | None:
    axis = op.options.axis if isinstance(op.options, Unpack) else 0
    if not -len(shape) <= axis < len(shape) or shape[axis] != 1:
        return None
    return shape[: axis % len(shape)] + shape[axis % len(shape) + 1 :]


def _split(op: Operator, shape: Shape, net: Net) -> Shape | None:
    axes = net.integers(op, 0)
    return shape if axes and len(axes) == 1 and -len(shape) <= axes[0] < len(shape) else None


def _split_in_sizes(op: Operator, shape: Shape, net: Net) -> Shape | None:
    sizes, axes = net.integers(op, 1), net.integers(op, 2)
    if not sizes or not axes or (len(sizes), len(axes)) != (1, 1) or not -len(shape) <= axes[0] < len(shape):
        return None
    return shape if sizes[0] in (-1, shape[axes[0]]) else None


def _sliced(op: Operator, shape: Shape, net: Net) -> Shape | None:
    begins, sizes = net.integers(op, 1), net.integers(op, 2)
    taken = None if begins is None or sizes is None else sliced(shape, begins, sizes)
    return shape if taken is not None and _is_all(taken, shape) else None


def _strided(op: Operator, shape: Shape, net: Net) -> Shape | None:
    """Return the shape if all indices are taken, without axes that are shrunk."""
    begins, ends, strides = (net.integers(op, position) for position in (1, 2, 3))
    if begins is None or ends is None or strides is None or not isinstance(op.options, StridedSlice):
        return None
    taken = strided(op.options, shape, begins, ends, strides)
    return shape_left(op.options, taken) if taken is not None and _is_all(taken, shape) else None


def _is_all(taken: Taken, shape: Shape) -> bool:
    return all(along == range(extent) for along, extent in zip(taken, shape, strict=True))


def _tiled(op: Operator, shape: Shape, net: Net) -> Shape | None:
    return shape if net.integers(op, 1) == [1] * len(shape) else None


def _stretched(op: Operator, shape: Shape, net: Net) -> Shape | None:
    """Return the shape, which may have more axes of extent 1 in front."""
    wanted = net.integers(op, 1)
    return tuple(wanted) if wanted is not None and tuple(wanted)[-len(shape) :] == shape else None


def _resized(op: Operator, shape: Shape, net: Net) -> Shape | None:
    return shape if len(shape) == 4 and net.integers(op, 1) == [*shape[1:3]] else None


def _transposed(op: Operator, source: int, net: Net) -> Shape | None:
    """Return the shape if axes with extents over 1 keep their order; an earlier TRANSPOSE of `source` counts too."""
    shape, axes = net.graph.tensors[source].shape, net.integers(op, 1)
    if op.inputs[0] is not None and op.inputs[0] != source:
        axes = _through(net.producer(op.inputs[0]), axes, net)
    if axes is None or sorted(axes) != [*range(len(shape))]:
        return None
    moving = [axis for axis in axes if shape[axis] > 1]
    return tuple(shape[axis] for axis in axes) if moving == sorted(moving) else None


def _through(before: Operator | None, axes: list[int] | None, net: Net) -> list[int] | None:
    first = net.integers(before, 1) if before is not None else None
    if first is None or axes is None or sorted(axes) != [*range(len(first))]:
        return None
    return [first[axis] for axis in axes]


_SHAPES: Mapping[str, Callable[[Operator, Shape, Net], Shape | None]] = {
    "AVERAGE_POOL_2D": _pooled,
    "BROADCAST_TO": _stretched,
    "CONCATENATION": _joined,
    "EXPAND_DIMS": _as_declared,
    "MAX_POOL_2D": _pooled,
    "MEAN": _averaged,
    "PACK": _packed,
    "PAD": _padded,
    "PADV2": _padded,
    "RESHAPE": _as_declared,
    "RESIZE_BILINEAR": _resized,
    "SLICE": _sliced,
    "SPLIT": _split,
    "SPLIT_V": _split_in_sizes,
    "SQUEEZE": _as_declared,
    "STRIDED_SLICE": _strided,
    "TILE": _tiled,
    "UNPACK": _unpacked,
}
"""By operator kind; others keep the shape of their input."""
