"""Operators that treat all slices alike: rows, tokens or samples along the first axis that is longer than 1.

    MEAN along the channels of 64 tokens     [1, 64, 48] -> [1, 64, 1]
    64 times, for a token                    [1,  1, 48] -> [1,  1, 1]

Their kernels by rows are those of the operator that makes one slice.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

import numpy as np

from usmp_build.interfaces.kernels import Input, Kernel, Operand, Output, Whole
from usmp_build.ir.graph import Tensor
from usmp_build.ir.options import in_order
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.pitches import are_apart
from usmp_build.kernels.portable.pieces import piece_by_piece, sliced_axis
from usmp_build.kernels.portable.reduced_axes import reduced_axes
from usmp_build.operators.sums import BatchMatMul


def _resized(node: Node) -> set[int]:
    """Return the axes that are longer or shorter in the output: those that are padded, cut, repeated or stretched."""
    source, output = node.input(0).shape, node.output.shape
    missing = len(output) - len(source)
    return {axis for axis, size in enumerate(output) if axis < missing or source[axis - missing] != size}


def _exchanged(node: Node) -> set[int]:
    rank = len(node.output.shape)
    return {axis for axis, source in enumerate(node.integers(1, "axes")) if axis != source % rank}


def _strided(node: Node) -> set[int]:
    strides = node.integers(3, "strides")
    is_shrunk = len(node.output.shape) != len(strides)
    turned = {axis for axis, stride in enumerate(strides) if stride != 1}
    return {*range(len(strides))} if is_shrunk else _resized(node) | turned


def _multiplied(node: Node) -> set[int]:
    """Return the axes that the left side does not have in the same place, or not as its rows: columns are none."""
    options, rank = node.options(BatchMatMul), len(node.output.shape)
    if any(len(node.input(at).shape) != rank for at in (0, 1)):
        return {*range(rank)}
    order, left = (in_order(range(rank), axes) for axes in (options.output_axes, options.left_axes))
    inside = {rank - 2, rank - 1} if options.adj_x else {rank - 1}
    return {axis for axis, moved in enumerate(order) if moved in inside or left[moved] != axis}


_AXES: dict[str, Callable[[Node], Set[int]]] = {
    **dict.fromkeys("BROADCAST_TO MIRROR_PAD PAD PADV2 SLICE TILE".split(), _resized),
    **dict.fromkeys("ARG_MAX ARG_MIN CUMSUM MEAN REVERSE_V2 SUM".split(), reduced_axes),
    **dict.fromkeys("REDUCE_ALL REDUCE_MAX REDUCE_MIN".split(), reduced_axes),
    "BATCH_MATMUL": _multiplied,
    "STRIDED_SLICE": _strided,
    "TRANSPOSE": _exchanged,
}
"""Operator kind → the axes along which it works; what is at an index of another axis depends on nothing else."""


def slice_by_slice(node: Node, make: Callable[[Node], Kernel]) -> Kernel | None:
    """Return a kernel that makes each slice of the output of that slice of the input; None if there is none.

    `make` makes the kernel of an operator of this kind.
    """
    if node.operator.kind not in _AXES or len(node.outputs) != 1 or are_apart(node):
        return None
    axis = sliced_axis(node.output.shape)
    if axis is None or axis in _AXES[node.operator.kind](node):
        return None
    count, sliced = node.output.shape[axis], _with_slices(node, axis)
    if not sliced or not all(_has_slices(node.input(at), axis, count) for at in sliced):
        return None
    try:
        made = make(_of_slice(node, axis, {node.operator.inputs[at] for at in sliced}))
    except Unsupported:
        return None
    if any(call.form != Whole() for call in made.calls) or made.scratch:
        return None
    operands: list[Input | Output] = [*map(Input, sliced), Output(0)]
    steps: dict[Operand, int] = {each: node.tensor(each).elements // count for each in operands}
    return piece_by_piece(replace(made, pitched=frozenset(), by_rows=None), count, steps)


def _with_slices(node: Node, axis: int) -> tuple[int, ...]:
    """Return the inputs that have slices; all others are the same for each slice.  Empty if that cannot be."""
    if node.operator.kind == "BATCH_MATMUL":
        return _sides_with_slices(node, axis)
    first, *others = (None if i is None else node.graph.tensors[i] for i in node.operator.inputs)
    alike = all(tensor is None or tensor.is_constant or tensor.elements == 1 for tensor in others)
    return (0,) if alike and first is not None else ()


def _sides_with_slices(node: Node, axis: int) -> tuple[int, ...]:
    """The right side has slices where there is a matrix of it for each slice: none for each row of the left one."""
    options, rank = node.options(BatchMatMul), len(node.output.shape)
    moved = in_order(range(rank), options.output_axes)[axis]
    right = in_order(range(rank), options.right_axes)[moved]
    if moved == rank - 2 or node.input(1).shape[right] == 1:
        return () if node.operator.inputs[0] == node.operator.inputs[1] else (0,)
    return (0, 1) if right == axis else ()


def _has_slices(tensor: Tensor, axis: int, count: int) -> bool:
    return not tensor.is_constant and sliced_axis(tensor.shape) == axis and tensor.shape[axis] == count


def _of_slice(node: Node, axis: int, sliced: Set[int | None]) -> Node:
    """Return the operator that makes one slice of the tensors `sliced` and of its outputs."""
    sizes = node.operator.inputs[2] if node.operator.kind == "SLICE" else None

    def change(index: int, tensor: Tensor) -> Tensor:
        if index == sizes:
            return _with_one(tensor, axis)
        is_sliced = index in sliced or index in node.operator.outputs
        return replace(tensor, shape=(*tensor.shape[:axis], 1, *tensor.shape[axis + 1 :])) if is_sliced else tensor

    return node.with_tensors(change)


def _with_one(sizes: Tensor, axis: int) -> Tensor:
    numbers = np.array(sizes.as_array())
    numbers.reshape(-1)[axis] = 1
    return replace(sizes, data=numbers.tobytes())
