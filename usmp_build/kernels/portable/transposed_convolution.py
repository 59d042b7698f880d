"""TRANSPOSE_CONV: each output adds up the inputs that reach it, so that it needs no scratch for sums."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from usmp_build.arithmetic import windows
from usmp_build.interfaces.call_traffic import call_traffic
from usmp_build.interfaces.kernels import Input, Kernel, Output, Traffic
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Padding
from usmp_build.kernels.arithmetic_of_sums import Places, arithmetic
from usmp_build.kernels.candidates import fastest
from usmp_build.kernels.dsp.transposed_convolution import transpose_conv_dsp
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Fields, kernel, rows_of
from usmp_build.kernels.nests_of_sums import conv_2d, filters
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.phases import phases_of
from usmp_build.kernels.pitches import Pitches, pitch, pitch_fields
from usmp_build.kernels.portable.dynamic_range import DynamicConvolution, dynamic_kernel, is_dynamic
from usmp_build.kernels.scalar.transposed_convolution import transpose_conv_scalar
from usmp_build.kernels.window import Images, Slide
from usmp_build.operators.sums import Conv2D
from usmp_build.request import Isa

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
    down, across = map(_slide, [options] * 2, source.shape[1:3], output.shape[1:3], window, strides)
    pitches = Pitches(pitch(node, Input(2)), pitch(node, Output(0)))
    images = Images(source.shape[0], down, across, pitches, Input(2))
    extra = (("output_channels", outputs),)
    if is_dynamic(source, weights, output):
        nest = conv_2d(images, inputs, outputs, filters(images, inputs))
        convolution = DynamicConvolution("transpose_conv", images, inputs, extra, 0, False, nest, _PLACES)
        return dynamic_kernel(node, convolution, options.activation)
    products = inputs * -(-down.window // down.stride) * -(-across.window // across.stride)
    how = arithmetic(node, products, 0, options.activation, places=_PLACES, other_biases=frozenset({DType.INT16}))
    fields = (*_fields(down, across, inputs, outputs), *how.fields, *pitch_fields(pitches))
    nest = conv_2d(images, inputs, outputs, filters(images, inputs), *how.spans)
    at_once = kernel(node, "", nest, (), constants=how.constants)
    reached = call_traffic(at_once.calls[0])[0] or Traffic()  # of the rows that may reach an output, some do not
    made = kernel(
        node,
        c_name("transpose_conv", how.elements, part="row"),
        nest,
        fields,
        form=rows_of(nest, numbered=True),
        constants=how.constants,
        moved={Input(2): reached},
    )
    made = replace(made, pitched=frozenset({Input(2), Output(0)}))
    phases = phases_of(node, images, reached.read)
    makers = {Isa.DSP: transpose_conv_dsp, Isa.SCALAR: transpose_conv_scalar}
    return fastest(node, {isa: partial(make, phases, how, made) for isa, make in makers.items()}, made)


def _fields(down: Slide, across: Slide, inputs: int, outputs: int) -> Fields:
    """Return the parameters of a row."""
    return (
        ("input_width", across.size),
        ("input_channels", inputs),
        ("output_width", across.output),
        ("output_channels", outputs),
        ("window_height", down.window),
        ("window_width", across.window),
        ("stride_down", down.stride),
        ("stride", across.stride),
        ("above", down.before),
        ("before", across.before),
    )


def _slide(options: Conv2D, inputs: int, outputs: int, window: int, stride: int) -> Slide:
    """Return an axis; what is cut off before its outputs is the padding of the convolution that it transposes."""
    before = windows.same_padding(outputs, window, stride)[0] if options.padding is Padding.SAME else 0
    return Slide(inputs, outputs, window, stride, before=before, is_transposed=True)
