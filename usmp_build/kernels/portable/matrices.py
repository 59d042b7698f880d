"""BATCH_MATMUL."""

from __future__ import annotations

from typing import NamedTuple

from usmp_build.interfaces.kernels import Input, Kernel, Output
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.activation import quantized_limits
from usmp_build.kernels.arithmetic_of_sums import check_depth
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Blocks, Fields, Nest, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported, check_symmetric, unsupported_types
from usmp_build.kernels.requantization import factor, output_fields, scale_fields, wide
from usmp_build.kernels.weights import BLOCK
from usmp_build.kernels.window import Slide, Under
from usmp_build.operators.sums import BatchMatMul

_AXES = 3
"""Outer axes; operands have at most two more."""


class _Side(NamedTuple):
    """An operand: shape along the outer axes, rows, columns; and whether it is stored by columns."""

    outer: tuple[int, ...]
    rows: int
    columns: int
    by_columns: bool

    @property
    def steps(self) -> tuple[int, int]:
        """From one row to the next, and from one column to the next, in elements."""
        return (1, self.rows) if self.by_columns else (self.columns, 1)


def batch_matmul(node: Node) -> Kernel:
    """Products of matrices; along outer axes, an operand with one of them is stretched."""
    options = node.options(BatchMatMul)
    left, right = _side(node, node.input(0), options.adj_x), _side(node, node.input(1), options.adj_y)
    node.expect(left.columns == right.rows, f"multiplies rows of {left.columns} with columns of {right.rows} elements")
    fit = all(one == other or 1 in (one, other) for one, other in zip(left.outer, right.outer, strict=True))
    node.expect(fit, "has another number of matrices on either side")
    batches = tuple(map(max, left.outer, right.outer))
    expected = _side(node, node.output, False)
    node.expect(expected[:3] == (batches, left.rows, right.columns), "makes matrices of another shape")
    fields = _arithmetic(node, left.columns)
    counts: Fields = (
        ("batches", batches),
        ("left_steps", _steps(left)),
        ("right_steps", _steps(right)),
        ("rows", left.rows),
        ("depth", left.columns),
        ("columns", right.columns),
        *zip(("left_row", "left_depth", "right_depth", "right_column"), (*left.steps, *right.steps), strict=True),
    )
    dtype = node.output.dtype
    return kernel(node, c_name("batch_matmul", dtype), _nest(batches, left, right), (*counts, *fields))


def _nest(batches: tuple[int, ...], left: _Side, right: _Side) -> Nest:
    """For every row, and block of columns, that row of the left matrix and these columns of the right one."""
    depth, names = left.columns, [f"batches_{axis}" for axis in range(len(batches))]
    window = Slide(depth, window=depth)
    axes = dict[str, int | Blocks](zip(names, batches, strict=True))
    axes |= {"rows": left.rows, "depth": 1, "columns": Blocks(right.columns, BLOCK)}
    in_left, in_right = (dict[str, int | Under](zip(names, _steps(side), strict=True)) for side in (left, right))
    row = reads(Input(0), 1, in_left | {"rows": left.steps[0], "depth": window.under(left.steps[1])})
    columns = reads(Input(1), depth, in_right | {"columns": depth})
    if right.steps[0] > 1:
        columns = reads(Input(1), 1, in_right | {"columns": 1, "depth": window.under(right.steps[0])})
    return Nest(axes, (row, columns, writes(Output(0))))


def _side(node: Node, tensor: Tensor, by_columns: bool) -> _Side:
    *outer, rows, columns = tensor.shape if len(tensor.shape) > 1 else (0, 0)
    node.expect(len(tensor.shape) > 1, f"multiplies {node.label(tensor)}, which is no matrix")
    if len(outer) > _AXES:
        raise Unsupported(f"it has more than {_AXES} axes of matrices")
    padded = (*(1,) * (_AXES - len(outer)), *outer)
    return _Side(padded, columns, rows, True) if by_columns else _Side(padded, rows, columns, False)


def _steps(side: _Side) -> tuple[int, ...]:
    """Return the elements from one matrix to the next along each outer axis; 0 where there is only one."""
    steps, step = list[int](), side.rows * side.columns
    for size in reversed(side.outer):
        steps.append(0 if size == 1 else step)
        step *= size
    return tuple(reversed(steps))


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
