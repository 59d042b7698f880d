"""QUANTIZE and DEQUANTIZE."""

from __future__ import annotations

from usmp_build.arithmetic.fixed_point import single
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.reference.activation import quantized_limits
from usmp_build.kernels.reference.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.reference.pieces import each_element
from usmp_build.kernels.reference.requantization import factor

_SUFFIXES = {
    DType.FLOAT32: "f32", DType.INT8: "s8", DType.UINT8: "u8", DType.INT16: "s16", DType.INT32: "s32"
}  # fmt: skip
_FROM_FLOAT = {"f32_s8", "f32_s16"}
_TO_FLOAT = {"s8_f32", "u8_f32", "s16_f32"}
_BETWEEN_INTEGERS = {"s8_s8", "s8_u8", "u8_s8", "s8_s16", "s16_s8", "s16_s16", "s16_s32", "s32_s16", "s8_s32", "s32_s8"}


def quantize(node: Node) -> Kernel:
    """From float to integers, or from integers to others."""
    types = _types(node)
    if types in _FROM_FLOAT:
        return _kernel(node, f"quantize_{types}", node.output)
    if types in _BETWEEN_INTEGERS:
        _check_wide(node)
        return requantize(node, types, quantized_limits(node, Activation.NONE, node.output))
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
    return _kernel(node, f"dequantize_{types}", node.input(0))


def requantize(node: Node, types: str, limits: tuple[int, int]) -> Kernel:
    """To another scale and zero point; `limits` are those of the output less its zero point."""
    source, output = node.input(0), node.output
    scale = factor(node, node.scale(source) / node.scale(output))
    return each_element(
        node,
        f"requantize_{types}",
        "requantize_parameters",
        ("input_zero_point", node.zero_point(source)),
        ("multiplier", scale.multiplier),
        ("shift", scale.shift),
        ("output_zero_point", node.zero_point(output)),
        ("low", limits[0]),
        ("high", limits[1]),
    )


def _types(node: Node) -> str:
    source, output = node.input(0), node.output
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    return "_".join(_SUFFIXES.get(tensor.dtype, tensor.dtype.name) for tensor in (source, output))


def _kernel(node: Node, function: str, quantized: Tensor) -> Kernel:
    scale = ("scale", single(node.scale(quantized)))
    return each_element(node, function, "quantize_parameters", scale, ("zero_point", node.zero_point(quantized)))


KERNELS = {"DEQUANTIZE": dequantize, "QUANTIZE": quantize}
