"""REDUCE_MAX, REDUCE_MIN and REDUCE_ALL, ARG_MAX and ARG_MIN: the largest or the least of many elements."""

from __future__ import annotations

from dataclasses import replace

from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType
from usmp_build.kernels.names import c_name
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.portable.reduced_axes import along_axes, reduced_axes, split
from usmp_build.kernels.portable.reduction import SUM_BYTES, block_of, row_by_row

_TYPES = {DType.INT8, DType.INT16, DType.FLOAT32}
_TYPES_OF_PLACES = {DType.INT8, DType.FLOAT32}
_SIGNS = {"ARG_MAX": 1, "ARG_MIN": -1, "REDUCE_ALL": -1, "REDUCE_MAX": 1, "REDUCE_MIN": -1}
"""1 for the largest, -1 for the least."""
_STRUCT = "reduce_max_parameters"


def extreme(node: Node) -> Kernel:
    """The largest or the least element along axes."""
    source, output = node.input(0), node.output
    if source.dtype is not output.dtype or source.dtype not in _TYPES:
        raise unsupported_types(source, output)
    if source.dtype.is_integer:
        same = node.scale(source) == node.scale(output) and node.zero_point(source) == node.zero_point(output)
        if not same:
            raise Unsupported("its input and output are quantized in different ways")
    return replace(_extreme(node, source.dtype), by_rows=_by_rows(node))


def all_true(node: Node) -> Kernel:
    """Whether all elements along axes are true: the least one, which is 0 or 1."""
    if not node.input(0).dtype is node.output.dtype is DType.BOOL:
        raise unsupported_types(node.input(0), node.output)
    return _extreme(node, DType.UINT8)


def arg_extreme(node: Node) -> Kernel:
    """The place of the largest or the least element along one axis."""
    source, output = node.input(0), node.output
    axes = reduced_axes(node)
    node.expect(len(axes) == 1, "does not work along one axis")
    if source.dtype not in _TYPES_OF_PLACES or output.dtype is not DType.INT32:
        raise unsupported_types(source, output)
    function = c_name("arg_max", source.dtype)
    return along_axes(node, split(source.shape, axes), function, _STRUCT, _sign(node))


def _extreme(node: Node, dtype: DType) -> Kernel:
    function = c_name("reduce_max", dtype)
    return along_axes(node, split(node.input(0).shape, reduced_axes(node)), function, _STRUCT, _sign(node))


def _by_rows(node: Node) -> Kernel | None:
    """Return the kernel that goes by rows, if what it keeps, with a row and the output, takes less than the input."""
    source, axes = node.input(0), split(node.input(0).shape, reduced_axes(node))
    if source.is_constant or len(axes.reduced) != 1 or axes.reduced[0].step == 1:
        return None
    block = block_of(source.shape, axes)
    kept = SUM_BYTES * block.channels + source.size // block.rows + node.output.size
    if block.images > 1 or block.rows == 1 or kept > source.size:
        return None
    function, struct = c_name("reduce_max_rows", source.dtype), "reduce_max_rows_parameters"
    return row_by_row(node, block, function, struct, (_sign(node),), block.rows * block.width)


def _sign(node: Node) -> tuple[str, int]:
    return "sign", _SIGNS[node.operator.kind]
