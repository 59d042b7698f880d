"""BATCH_MATMUL."""

from __future__ import annotations

from typing import NamedTuple

from usmp_build.interfaces.kernels import Input, Kernel, Output
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation, Order, in_order
from usmp_build.kernels.activation import quantized_limits
from usmp_build.kernels.arithmetic_of_sums import check_depth
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Blocks, Fields, Nest, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported, check_symmetric, unsupported_types
from usmp_build.kernels.portable.moves import byte_steps
from usmp_build.kernels.requantization import factor, output_fields, scale_fields, wide
from usmp_build.kernels.weights import BLOCK
from usmp_build.kernels.window import Slide, Under
from usmp_build.operators.sums import BatchMatMul

_AXES = 3
"""Outer axes; operands have at most two more."""


class _Side(NamedTuple):
    """An operand, along three outer axes, then down and across its matrices."""

    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    """Elements from one index to the next; 0 along an outer axis with only one."""


class _Rows(NamedTuple):
    """The rows of all matrices of the output, along the axes on which they lie there."""

    sizes: tuple[int, ...]
    left_steps: tuple[int, ...]
    """From the row of the left side that one is made of to that of the next one."""
    right_steps: tuple[int, ...]
    """From matrix to matrix of the right side: 0 from one row to the next."""


def batch_matmul(node: Node) -> Kernel:
    """Products of matrices; along outer axes, an operand with one of them is stretched."""
    options = node.options(BatchMatMul)
    left = _side(node, node.input(0), options.left_axes, options.adj_x)
    right = _side(node, node.input(1), options.right_axes, options.adj_y)
    (*one, count, depth), (*other, height, columns) = left.sizes, right.sizes
    node.expect(depth == height, f"multiplies rows of {depth} with columns of {height} elements")
    fit = all(here == there or 1 in (here, there) for here, there in zip(one, other, strict=True))
    node.expect(fit, "has another number of matrices on either side")
    order = _order(node, options.output_axes)
    expected = in_order((*map(max, one, other), count, columns), order)
    node.expect(_side(node, node.output).sizes == expected, "makes matrices of another shape")
    node.expect(order[-1] == len(order) - 1, "moves the columns of its output")
    left_steps, right_steps = (*left.steps[:-1], 0), (*right.steps[:-2], 0, 0)
    rows = _Rows(expected[:-1], *(in_order(steps, order)[:-1] for steps in (left_steps, right_steps)))
    fields: Fields = (
        ("rows", rows.sizes),
        ("left_steps", rows.left_steps),
        ("right_steps", rows.right_steps),
        ("depth", depth),
        ("columns", columns),
        ("left_depth", left.steps[-1]),
        ("right_depth", right.steps[-2]),
        ("right_column", right.steps[-1]),
    )
    function, arithmetic = c_name("batch_matmul", node.output.dtype), _arithmetic(node, depth)
    return kernel(node, function, _nest(rows, left, right), (*fields, *arithmetic))


def _nest(rows: _Rows, left: _Side, right: _Side) -> Nest:
    """For every row, and block of columns, that row of the left matrix and these columns of the right one."""
    *_, depth, columns = right.sizes
    names, window = [f"rows_{axis}" for axis in range(len(rows.sizes))], Slide(depth, window=depth)
    axes = dict[str, int | Blocks](zip(names, rows.sizes, strict=True))
    axes |= {"depth": 1, "columns": Blocks(columns, BLOCK)}
    in_left, in_right = (
        dict[str, int | Under](zip(names, steps, strict=True)) for steps in (rows.left_steps, rows.right_steps)
    )
    row = reads(Input(0), 1, in_left | {"depth": window.under(left.steps[-1])})
    in_right["columns"] = right.steps[-1]
    if right.steps[-2] == 1:
        return Nest(axes, (row, reads(Input(1), depth, in_right), writes(Output(0))))
    in_right["depth"] = window.under(right.steps[-2])
    return Nest(axes, (row, reads(Input(1), 1, in_right), writes(Output(0))))


def _side(node: Node, tensor: Tensor, axes: Order | None = None, by_columns: bool = False) -> _Side:
    missing = _AXES + 2 - len(tensor.shape)
    node.expect(len(tensor.shape) > 1, f"multiplies {node.label(tensor)}, which is no matrix")
    if missing < 0:
        raise Unsupported(f"it has more than {_AXES} axes of matrices")
    numbers = (in_order(each, axes) for each in (tensor.shape, byte_steps(tensor.shape, 1)))
    *outer, rows, columns = zip(*numbers, strict=True)
    stretched = ((size, 0 if size == 1 else step) for size, step in outer)
    matrix = (columns, rows) if by_columns else (rows, columns)
    sizes, steps = zip(*((1, 0),) * missing, *stretched, *matrix, strict=True)
    return _Side(sizes, steps)


def _order(node: Node, axes: Order | None) -> Order:
    """Return the order of the axes of the output, with those that it lacks."""
    missing = _AXES + 2 - len(node.output.shape)
    return (*range(missing), *(missing + axis for axis in in_order(range(len(node.output.shape)), axes)))


def _arithmetic(node: Node, depth: int) -> Fields:
    """Return the parameters that depend on the type."""
    left, right, output = node.input(0), node.input(1), node.output
    types = {left.dtype, right.dtype, output.dtype}
    if types == {DType.FLOAT32}:
        return ()
    if types not in ({DType.INT8}, {DType.INT16}):
        raise unsupported_types(left, right, output)
    check_depth(depth, left.dtype)
    scale = factor(node, node.scale(left) * node.scale(right) / node.scale(output))
    limits = quantized_limits(node, Activation.NONE, output)
    if types == {DType.INT16}:
        check_symmetric(node, left, right, output)
        return (*scale_fields(wide(node, scale)), ("low", limits[0]), ("high", limits[1]))
    return (
        ("left_zero_point", node.zero_point(left)),
        ("right_zero_point", node.zero_point(right)),
        *scale_fields(scale),
        *output_fields(node, limits),
    )
