"""Checks and factors of weights and biases for convolutions and FULLY_CONNECTED."""

from __future__ import annotations

from usmp_build.arithmetic.fixed_point import Factor
from usmp_build.interfaces.kernels import Constant, Input
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels.node import LARGEST, Node, Unsupported
from usmp_build.kernels.requantization import factor

_WIDEST_DIFFERENCE = 255
"""Between an int8 and its zero point."""

BLOCK = 4
"""Outputs that are summed together, in c/products.h: each input is read once for all of them."""


def blocks(outputs: int, size: int = BLOCK) -> int:
    """Return how many blocks there are; the last one may be short, but reads as many weights as the others."""
    return -(-outputs // size)


def bias_operand(
    node: Node, channels: int, dtype: DType, position: int = 2
) -> tuple[Input | None, tuple[Constant, ...]]:
    """Return the bias as an operand; when it was left out, None and zeros as a derived constant.

    Biases of int64 must be constant: whether sums fit 48 bits depends on them.
    """
    bias = node.optional(position)
    if bias is None:
        return None, (Constant("bias", dtype, bytes(channels * dtype.bits // 8)),)
    node.expect(bias.elements == channels, f"has {bias.elements} biases for {channels} outputs")
    if bias.dtype is not dtype:
        raise Unsupported(f"it has no kernel for biases of type {bias.dtype.name}")
    if dtype is DType.INT64:
        node.array(position, "biases")
    return Input(position), ()


def check_sums(node: Node, products: int, weights: Tensor) -> None:
    """Refuse sums of products that an int32 may not hold."""
    if weights.dtype is DType.INT8:
        widest_weight = 128 + abs(node.zero_point(weights))
        if products * _WIDEST_DIFFERENCE * widest_weight > LARGEST:
            raise Unsupported(f"it adds up {products:,} products, which may not fit 32 bits")


def channel_factors(node: Node, source: Tensor, weights: Tensor, axis: int) -> tuple[Factor, ...]:
    """Return input scale x weight scale / output scale for every index of the weights along `axis`."""
    channels = weights.shape[axis]
    scales = node.scales(weights, channels)
    quantization = weights.quantization
    if quantization is not None and quantization.per_channel and quantization.axis != axis:
        raise Unsupported(f"its weights are quantized along axis {quantization.axis}")
    if quantization is not None and any(quantization.zero_points):
        raise Unsupported("its weights have a zero point other than 0")
    given, target = node.scale(source), node.scale(node.output)
    factors = tuple(factor(node, given * scale / target) for scale in scales)
    return factors * (channels // len(factors))
