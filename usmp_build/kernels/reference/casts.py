"""CAST."""

from __future__ import annotations

from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType
from usmp_build.kernels.reference.node import Node, Unsupported, integer_range, unsupported_types
from usmp_build.kernels.reference.pieces import each_element

_NAMES = {
    DType.BOOL: "bool",
    DType.INT8: "s8",
    DType.UINT8: "u8",
    DType.INT16: "s16",
    DType.INT32: "s32",
    DType.UINT32: "u32",
    DType.FLOAT32: "f32",
}
_OF_FLOATS = {DType.INT8, DType.UINT8, DType.INT16, DType.INT32}
"""Integers that floats become."""


def cast(node: Node) -> Kernel:
    """CAST: integers keep their low bits, floats go towards 0, and any number but 0 is true."""
    source, output = node.input(0), node.output
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    if not {source.dtype, output.dtype} <= _NAMES.keys():
        raise unsupported_types(source, output)
    before, after = _NAMES[source.dtype], _NAMES[output.dtype]
    if source.dtype is output.dtype and source.dtype not in _OF_FLOATS:
        raise Unsupported(f"it changes no {source.dtype.name}")
    if output.dtype is DType.BOOL:
        return each_element(node, f"truth_{before}", "elements")
    if source.dtype is DType.FLOAT32 and output.dtype in _OF_FLOATS:
        low, high = integer_range(output.dtype)
        return each_element(node, f"cast_f32_{after}", "cast_f32_parameters", ("low", low), ("high", high))
    return each_element(node, f"cast_{before}_{after}", "elements")


KERNELS = {"CAST": cast}
