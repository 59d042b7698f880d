"""CAST."""

from __future__ import annotations

from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType
from usmp_build.kernels.names import TYPES, c_name
from usmp_build.kernels.node import Node, Unsupported, integer_range, unsupported_types
from usmp_build.kernels.portable.pieces import each_element

_OF_FLOATS = {DType.INT8, DType.UINT8, DType.INT16, DType.INT32}
"""Integers that floats become."""


def cast(node: Node) -> Kernel:
    """CAST: integers keep their low bits, floats go towards 0, and any number but 0 is true."""
    source, output = node.input(0), node.output
    node.expect_same_size()
    if not {source.dtype, output.dtype} <= TYPES.keys() - {DType.INT64}:
        raise unsupported_types(source, output)
    if source.dtype is output.dtype and source.dtype not in _OF_FLOATS:
        raise Unsupported(f"it changes no {source.dtype.name}")
    if output.dtype is DType.BOOL:
        return each_element(node, c_name("truth", source.dtype), "elements")
    name = c_name("cast", source.dtype, output.dtype)
    if source.dtype is DType.FLOAT32 and output.dtype in _OF_FLOATS:
        low, high = integer_range(output.dtype)
        return each_element(node, name, "cast_f32_parameters", ("low", low), ("high", high))
    return each_element(node, name, "elements")
