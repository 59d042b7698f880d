"""float32 with weights of int8 ("dynamic range"): inputs are quantized when they arrive, image by image.

TensorFlow Lite Micro has no such kernels; sums are those of TensorFlow Lite's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Output,
    Parameters,
    Scratch,
    ScratchRequest,
    Traffic,
    Whole,
)
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.accesses_of_sums import dynamic_accesses
from usmp_build.kernels.activation import real_limits
from usmp_build.kernels.arithmetic_of_sums import PLACES, Places
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.weights import bias_operand, check_sums
from usmp_build.kernels.window import Slide, taps_inside

_ONCE = Slide(output=1, before=0)
"""Of a window as large as the axis."""


@dataclass(frozen=True)
class Axis:
    """An axis of an image, and the window that slides along it."""

    size: int
    window: int = 1
    stride: int = 1
    dilation: int = 1
    slide: Slide = _ONCE
    is_transposed: bool = False
    """Whether the window slides along the outputs, and each pixel of the image reaches those under it."""

    @property
    def taps(self) -> int:
        """Pairs of a pixel and an output for which it counts."""
        if self.is_transposed:
            return taps_inside(Slide(self.size, self.slide.before), self.slide.output, self.window, self.stride)
        return taps_inside(self.slide, self.size, self.window, self.stride, self.dilation)

    @property
    def dilations(self) -> tuple[int, ...]:
        """The dilation, if there may be any."""
        return () if self.is_transposed else (self.dilation,)


@dataclass(frozen=True)
class DynamicConvolution:
    """How images are convolved; the weights have an axis for output channels."""

    name: str
    images: int
    axes: tuple[Axis, Axis]
    channels: int
    extra: tuple[tuple[str, int], ...]
    """The parameters that only this kind has."""
    axis: int
    symmetric: bool
    reads: tuple[int, int]
    """Inputs and weights that are read for a pixel under the window."""
    places: Places = PLACES


def is_dynamic(*tensors: Tensor) -> bool:
    """Tell whether input, weights and output are of the types that these kernels are for."""
    return tuple(tensor.dtype for tensor in tensors) == (DType.FLOAT32, DType.INT8, DType.FLOAT32)


def dynamic_kernel(node: Node, convolution: DynamicConvolution, activation: Activation) -> Kernel:
    """Return the kernel of a convolution whose input is quantized when it arrives."""
    places = convolution.places
    source, weights, output = node.streamed(places.input), node.input(places.weights), node.output
    node.array(places.weights, "weights")
    outputs, image = weights.shape[convolution.axis], source.elements // convolution.images
    scales = node.scales(weights, outputs)
    if weights.quantization is not None and any(weights.quantization.zero_points):
        raise Unsupported("its weights have a zero point other than 0")
    if len(scales) > 1 and weights.quantization is not None and weights.quantization.axis != convolution.axis:
        raise Unsupported(f"its weights are quantized along axis {weights.quantization.axis}")
    check_sums(node, weights.elements // outputs, weights)
    bias, zeros = bias_operand(node, outputs, DType.FLOAT32, places.bias)
    low, high = real_limits(activation)
    down, across = convolution.axes
    fields = (
        ("images", convolution.images),
        ("input_height", down.size),
        ("input_width", across.size),
        ("input_channels", convolution.channels),
        ("output_height", down.slide.output),
        ("output_width", across.slide.output),
        *convolution.extra,
        ("window_height", down.window),
        ("window_width", across.window),
        ("stride_down", down.stride),
        ("stride", across.stride),
        *(("dilation_down", dilation) for dilation in down.dilations),
        *(("dilation", dilation) for dilation in across.dilations),
        ("above", down.slide.before),
        ("before", across.slide.before),
        ("symmetric", int(convolution.symmetric)),
        ("scale_step", int(len(scales) > 1)),
        ("low", low),
        ("high", high),
    )
    operands = (Input(places.input), Input(places.weights), bias or Derived(1), Derived(0), Scratch(0), Output(0))
    taps = convolution.images * down.taps * across.taps
    inputs, weighed = (taps * each for each in convolution.reads)
    each = Traffic(output.size)
    traffic = {0: Traffic(2 * source.size), 1: Traffic(weighed), 2: each, 3: each, 4: Traffic(inputs, source.elements)}
    name = f"{convolution.name}_dynamic"
    accesses = dynamic_accesses(convolution.images, image, output.elements // convolution.images, len(operands))
    call = KernelCall(name, Whole(), operands, Parameters(f"{name}_parameters", fields), traffic, accesses=accesses)
    constants = Constant("scale", DType.FLOAT32, np.array(scales, "<f4").tobytes()), *zeros
    return Kernel((call,), constants, scratch=(ScratchRequest("quantized", image, DType.INT8),))
