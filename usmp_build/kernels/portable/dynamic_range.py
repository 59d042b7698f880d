"""float32 with weights of int8 ("dynamic range"): inputs are quantized when they arrive, image by image.

TensorFlow Lite Micro has no such kernels; sums are those of TensorFlow Lite's.
"""

from __future__ import annotations

import numpy as np

from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    Output,
    Scratch,
    ScratchRequest,
    Traffic,
)
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.activation import real_limits
from usmp_build.kernels.arithmetic_of_sums import PLACES, Places
from usmp_build.kernels.nest import Nest, aside, kernel
from usmp_build.kernels.nests_of_sums import dynamic
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.weights import bias_operand, check_sums
from usmp_build.kernels.window import Images


@frozen
class DynamicConvolution:
    """How images are convolved; the weights have an axis for output channels."""

    name: str
    images: Images
    channels: int
    extra: tuple[tuple[str, int], ...]
    """The parameters that only this kind has."""
    axis: int
    symmetric: bool
    nest: Nest
    """That of an input that needs no quantization, with weights, and without what sums become outputs by."""
    places: Places = PLACES


def is_dynamic(*tensors: Tensor) -> bool:
    """Tell whether input, weights and output are of the types that these kernels are for."""
    return tuple(tensor.dtype for tensor in tensors) == (DType.FLOAT32, DType.INT8, DType.FLOAT32)


def dynamic_kernel(node: Node, convolution: DynamicConvolution, activation: Activation) -> Kernel:
    """Return the kernel of a convolution whose input is quantized when it arrives."""
    places = convolution.places
    source, weights = node.streamed(places.input), node.input(places.weights)
    node.array(places.weights, "weights")
    images, outputs = convolution.images, weights.shape[convolution.axis]
    inputs, made = (tensor.elements // images.count for tensor in (source, node.output))
    scales = node.scales(weights, outputs)
    if weights.quantization is not None and any(weights.quantization.zero_points):
        raise Unsupported("its weights have a zero point other than 0")
    if len(scales) > 1 and weights.quantization is not None and weights.quantization.axis != convolution.axis:
        raise Unsupported(f"its weights are quantized along axis {weights.quantization.axis}")
    check_sums(node, weights.elements // outputs, weights)
    bias, zeros = bias_operand(node, outputs, DType.FLOAT32, places.bias)
    low, high = real_limits(activation)
    fields = (
        *images.fields(convolution.channels, convolution.extra),
        ("symmetric", int(convolution.symmetric)),
        ("scale_step", int(len(scales) > 1)),
        ("low", low),
        ("high", high),
    )
    adds, scale = bias or Derived(1), Derived(0)
    return kernel(
        node,
        f"{convolution.name}_dynamic",
        dynamic(convolution.nest, inputs, made, aside(adds), aside(scale)),
        fields,
        operands=(Input(places.input), Input(places.weights), adds, scale, Scratch(0), Output(0)),
        constants=(Constant("scale", DType.FLOAT32, np.array(scales, "<f4").tobytes()), *zeros),
        scratch=(ScratchRequest("quantized", inputs, DType.INT8),),
        moved={Input(places.input): Traffic(2 * source.size)},
    )
