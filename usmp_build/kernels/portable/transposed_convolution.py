"""TRANSPOSE_CONV: each output adds up the inputs that reach it, so that it needs no scratch for sums."""

from __future__ import annotations

from usmp_build.arithmetic import windows
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Output, Parameters, Traffic, Whole
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Padding
from usmp_build.kernels.accesses_of_sums import Transposed, transpose_conv_accesses
from usmp_build.kernels.arithmetic_of_sums import Places, arithmetic
from usmp_build.kernels.names import c_name
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.pitches import Pitches, pitch, pitch_fields
from usmp_build.kernels.portable.dynamic_range import Axis, DynamicConvolution, dynamic_kernel, is_dynamic
from usmp_build.kernels.weights import BLOCK, blocks
from usmp_build.kernels.window import Slide, taps_inside
from usmp_build.operators.sums import Conv2D

_PLACES = Places(input=2, weights=1, bias=3)


def transpose_conv(node: Node) -> Kernel:
    """The shape that it is given is that of the output, which is known."""
    options, source, weights, output = node.options(Conv2D), node.streamed(2), node.input(1), node.output
    node.expect(all(len(t.shape) == 4 for t in (source, weights, output)), "works on tensors without four dimensions")
    outputs, *window, inputs = weights.shape
    node.expect(
        (inputs, outputs) == (source.shape[3], output.shape[3]), "has filters for other channels than its images have"
    )
    node.expect(source.shape[0] == output.shape[0], "makes another number of images than it has")
    strides = options.stride_h, options.stride_w
    node.expect(min(*strides, *window) >= 1, "has a window or stride of 0")
    if max(*strides, *window) > windows.WIDEST:
        raise Unsupported("its window is too wide")
    down, across = map(_axis, [options] * 2, source.shape[1:3], output.shape[1:3], window, strides)
    if is_dynamic(source, weights, output):
        return _dynamic(node, options, down, across)
    products = inputs * -(-down.window // down.stride) * -(-across.window // across.stride)
    how = arithmetic(node, products, 0, options.activation, places=_PLACES, other_biases=frozenset({DType.INT16}))
    pitches = Pitches(pitch(node, Input(2)), pitch(node, Output(0)))
    fields = (
        ("images", source.shape[0]),
        ("input_height", down.inputs),
        ("input_width", across.inputs),
        ("input_channels", inputs),
        ("output_height", down.outputs),
        ("output_width", across.outputs),
        ("output_channels", outputs),
        ("window_height", down.window),
        ("window_width", across.window),
        ("stride_down", down.stride),
        ("stride", across.stride),
        ("above", down.before),
        ("before", across.before),
        *how.fields,
        *pitch_fields(pitches),
    )
    operands = (Input(2), Input(1), *how.operands, Output(0))
    size = source.dtype.bits // 8
    taps = source.shape[0] * _taps(down) * _taps(across) * blocks(outputs)
    weighed = Traffic(taps * inputs * BLOCK * weights.dtype.bits // 8)
    traffic = {1: weighed, **how.traffic(output.elements)}
    name = c_name("transpose_conv", how.elements)
    axes = down, across
    accesses = transpose_conv_accesses(source.shape[0], axes, pitches, (inputs, outputs), size, len(operands))
    parameters = Parameters(c_name("transpose_conv", how.elements, part="parameters"), fields)
    call = KernelCall(name, Whole(), operands, parameters, traffic, accesses=accesses)
    return Kernel((call,), how.constants, pitched=frozenset({Input(2), Output(0)}))


def _dynamic(node: Node, options: Conv2D, down: Transposed, across: Transposed) -> Kernel:
    """Return the kernel of float32 with weights of int8."""
    outputs, _, _, inputs = node.input(_PLACES.weights).shape
    convolution = DynamicConvolution(
        "transpose_conv",
        node.output.shape[0],
        (_dynamic_axis(down), _dynamic_axis(across)),
        inputs,
        (("output_channels", outputs),),
        axis=0,
        symmetric=False,
        reads=(blocks(outputs) * inputs, blocks(outputs) * BLOCK * inputs),
        places=_PLACES,
    )
    return dynamic_kernel(node, convolution, options.activation)


def _dynamic_axis(axis: Transposed) -> Axis:
    slide = Slide(axis.outputs, axis.before)
    return Axis(axis.inputs, axis.window, axis.stride, slide=slide, is_transposed=True)


def _axis(options: Conv2D, inputs: int, outputs: int, window: int, stride: int) -> Transposed:
    """Return an axis; what is cut off before its outputs is the padding of the convolution that it transposes."""
    before = windows.same_padding(outputs, window, stride)[0] if options.padding is Padding.SAME else 0
    return Transposed(inputs, outputs, window, stride, before)


def _taps(axis: Transposed) -> int:
    """Count all pairs of an input and an output that it reaches."""
    return taps_inside(Slide(axis.inputs, axis.before), axis.outputs, axis.window, axis.stride)


KERNELS = {"TRANSPOSE_CONV": transpose_conv}
