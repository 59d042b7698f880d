"""QUANTIZE and DEQUANTIZE."""

from __future__ import annotations

from itertools import product

from usmp_build.arithmetic.fixed_point import single
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.activation import quantized_limits
from usmp_build.kernels.names import c_name
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.portable.pieces import each_element
from usmp_build.kernels.requantization import factor, output_fields, scale_fields

_FROM_FLOAT = {(DType.FLOAT32, DType.INT8), (DType.FLOAT32, DType.INT16)}
_TO_FLOAT = {(each, DType.FLOAT32) for each in (DType.INT8, DType.UINT8, DType.INT16)}
_SIGNED = DType.INT8, DType.INT16, DType.INT32
_BETWEEN_INTEGERS = {
    *product(_SIGNED, repeat=2),
    (DType.INT8, DType.UINT8),
    (DType.UINT8, DType.INT8),
} - {(DType.INT32, DType.INT32)}


def quantize(node: Node) -> Kernel:
    """From float to integers, or from integers to others."""
    types = _types(node)
    if types in _FROM_FLOAT:
        return _kernel(node, c_name("quantize", *types), node.output)
    if types in _BETWEEN_INTEGERS:
        _check_wide(node)
        return requantize(node, quantized_limits(node, Activation.NONE, node.output))
    raise unsupported_types(node.input(0), node.output)


def _check_wide(node: Node) -> None:
    """Refuse an int32 with a zero point: the difference may not fit."""
    for tensor in (node.input(0), node.output):
        if tensor.dtype is DType.INT32 and node.zero_point(tensor):
            raise Unsupported(f"{node.label(tensor)} is an int32 with a zero point other than 0")


def dequantize(node: Node) -> Kernel:
    """From integers to float."""
    types = _types(node)
    if types not in _TO_FLOAT:
        raise unsupported_types(node.input(0), node.output)
    return _kernel(node, c_name("dequantize", *types), node.input(0))


def requantize(node: Node, limits: tuple[int, int]) -> Kernel:
    """To another scale and zero point; `limits` are those of the output less its zero point."""
    source, output = node.input(0), node.output
    scale = factor(node, node.scale(source) / node.scale(output))
    return each_element(
        node,
        c_name("requantize", node.input(0).dtype, node.output.dtype),
        "requantize_parameters",
        ("input_zero_point", node.zero_point(source)),
        *scale_fields(scale),
        *output_fields(node, limits),
    )


def _types(node: Node) -> tuple[DType, DType]:
    source, output = node.input(0), node.output
    node.expect_same_size()
    return source.dtype, output.dtype


def _kernel(node: Node, function: str, quantized: Tensor) -> Kernel:
    scale = ("scale", single(node.scale(quantized)))
    return each_element(node, function, "quantize_parameters", scale, ("zero_point", node.zero_point(quantized)))
