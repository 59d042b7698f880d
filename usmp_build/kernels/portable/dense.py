"""FULLY_CONNECTED."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, Operand, Output, Traffic
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Activation, Padding
from usmp_build.kernels import nests_of_sums as nests
from usmp_build.kernels.activation import quantized_limits, real_limits
from usmp_build.kernels.arithmetic_of_sums import check_wide_sums
from usmp_build.kernels.candidates import fastest
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Blocks, Fields, Nest, aside, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported, check_symmetric, unsupported_types
from usmp_build.kernels.packed_filters import MOST_TAPS
from usmp_build.kernels.pitches import Pitches
from usmp_build.kernels.portable.convolution import conv_2d_forms
from usmp_build.kernels.portable.dynamic_range import DynamicConvolution, dynamic_kernel, is_dynamic
from usmp_build.kernels.portable.packed_weights import perhaps_packed
from usmp_build.kernels.requantization import factor, factor_pairs, output_fields, wide
from usmp_build.kernels.weights import BLOCK, bias_operand, blocks, check_sums
from usmp_build.kernels.window import Images, Slide
from usmp_build.operators.sums import Conv2D, FullyConnected
from usmp_build.request import Isa

_PART = 512
"""Most inputs whose sum of products has no more than 24 bits, whatever the weights."""
_BIAS_TOLERANCE = 0.02
"""Tolerance of the scale of the bias, relative to the scale of the output."""


class _Sizes(NamedTuple):
    """Named as in the parameters of the C functions."""

    batches: int
    inputs: int
    outputs: int


@perhaps_packed
def fully_connected(node: Node) -> Kernel:
    """Every output of a batch from every input of that batch."""
    options = node.options(FullyConnected)
    if options.shuffled_weights:
        raise Unsupported("its weights are shuffled")
    source, weights, output = node.input(0), node.input(1), node.output
    node.expect(len(weights.shape) == 2, "has weights without two dimensions")
    outputs, inputs = weights.shape
    batches, rest = divmod(source.elements, inputs)
    node.expect(rest == 0, f"has {source.elements} inputs, not a multiple of {inputs}")
    node.expect(output.elements == batches * outputs, f"makes {batches * outputs} outputs, not {output.elements}")
    sizes = _Sizes(batches, inputs, outputs)
    if is_dynamic(source, weights, output):
        return _dynamic(node, sizes)
    types = source.dtype, weights.dtype, output.dtype
    if types == (DType.FLOAT32, DType.FLOAT32, DType.FLOAT32):
        return _float32(node, sizes)
    if types not in {(DType.INT8, DType.INT8, DType.INT8), (DType.INT16, DType.INT8, DType.INT16)}:
        raise unsupported_types(source, weights, output)
    if weights.quantization is not None and weights.quantization.per_channel:
        return _convolution(node, sizes)
    _check_bias_scale(node)
    if source.dtype is DType.INT8:
        return _int8(node, sizes)
    bias = node.optional(2)
    return _int16(node, sizes) if bias is None or bias.dtype is not DType.INT32 else _convolution(node, sizes)


def _float32(node: Node, sizes: _Sizes) -> Kernel:
    bias, constants = bias_operand(node, sizes.outputs, DType.FLOAT32)
    options = node.options(FullyConnected)
    low, high = real_limits(options.activation, options.limits)
    return _kernel(node, sizes, (("low", low), ("high", high)), (bias or Derived(0),), constants)


def _int8(node: Node, sizes: _Sizes) -> Kernel:
    source, weights, output = node.input(0), node.input(1), node.output
    check_sums(node, sizes.inputs, weights)
    bias, zeros = bias_operand(node, sizes.outputs, DType.INT32)
    scale = factor(node, node.scale(source) * node.scale(weights) / node.scale(output))
    constants = (factor_pairs("factor", scale), *zeros)
    options = node.options(FullyConnected)
    fields = (
        ("input_zero_point", node.zero_point(source)),
        ("weights_zero_point", node.zero_point(weights)),
        *output_fields(node, quantized_limits(node, options.activation, output, options.limits)),
    )
    portable = _kernel(node, sizes, fields, (bias or Derived(1), Derived(0)), constants)
    return fastest(node, _faster(node, sizes), portable)


def _int16(node: Node, sizes: _Sizes) -> Kernel:
    source, weights, output = node.input(0), node.input(1), node.output
    check_symmetric(node, source, weights, output)
    bias, zeros = bias_operand(node, sizes.outputs, DType.INT64)
    check_wide_sums(sizes.inputs, node.optional(2))
    scale = wide(node, factor(node, node.scale(source) * node.scale(weights) / node.scale(output)))
    options = node.options(FullyConnected)
    low, high = quantized_limits(node, options.activation, output, options.limits)
    constants = (factor_pairs("factor", scale), *zeros)
    portable = _kernel(node, sizes, (("low", low), ("high", high)), (bias or Derived(1), Derived(0)), constants)
    return fastest(node, _faster(node, sizes), portable)


def _kernel(
    node: Node, sizes: _Sizes, fields: Fields, others: tuple[Operand, ...], constants: tuple[Constant, ...]
) -> Kernel:
    """Put the kernel together; `others` are the bias, and a factor that is read once.

    A zero point of the weights asks for the sum of all inputs, too.
    """
    source, weights = node.input(0), node.input(1)
    (batches, inputs, outputs), dtype = sizes, source.dtype
    spans = (
        reads(Input(0), inputs, {"batches": inputs}),
        aside(Input(1), inputs, {"outputs": inputs}, fills=True),
        aside(others[0]),
        writes(Output(0)),
    )
    sums_inputs = dtype is DType.INT8 and node.zero_point(weights) != 0
    return kernel(
        node,
        c_name("fully_connected", dtype),
        Nest({"batches": batches, "outputs": Blocks(outputs, BLOCK)}, spans),
        (*sizes._asdict().items(), *fields),
        operands=(Input(0), Input(1), *others, Output(0)),
        constants=constants,
        moved={Input(0): Traffic(source.size * (blocks(outputs) + 1))} if sums_inputs else {},
    )


def _check_bias_scale(node: Node) -> None:
    """A bias that was quantized with another scale than its sums adds something else than it says."""
    bias = node.optional(2)
    if bias is None or bias.quantization is None or not bias.quantization.scales:
        return
    difference = node.scale(node.input(0)) * node.scale(node.input(1)) - bias.quantization.scales[0]
    if abs(difference) / node.scale(node.output) > _BIAS_TOLERANCE:
        raise Unsupported("the scale of its biases is not that of its inputs times that of its weights")


def _convolution(node: Node, sizes: _Sizes) -> Kernel:
    """A scale for each output, or int16 with biases of 32 bits, as convolutions have."""
    portable, _ = conv_2d_forms(_as_convolution(node, sizes))
    return fastest(node, _faster(node, sizes), _without_pitches(portable))


def _without_pitches(kernel: Kernel) -> Kernel:
    return replace(kernel, pitched=frozenset(), slower=frozenset())


def _as_convolution(node: Node, sizes: _Sizes, parts: int = 1) -> Node:
    """Return a CONV_2D: a batch is a row of pixels, and the window covers the row."""
    options = node.options(FullyConnected)
    shapes: dict[Input | Output, tuple[int, ...]] = {
        Input(0): (1, sizes.batches, parts, sizes.inputs // parts),
        Input(1): (sizes.outputs, 1, parts, sizes.inputs // parts),
        Output(0): (1, sizes.batches, 1, sizes.outputs),
    }
    tensors = list(node.graph.tensors)
    for operand, shape in shapes.items():
        tensors[node.index(operand)] = replace(node.tensor(operand), shape=shape)
    convolution = Conv2D(Padding.VALID, activation=options.activation, limits=options.limits)
    graph = replace(node.graph, tensors=tuple(tensors))
    return replace(node, operator=replace(node.operator, options=convolution), graph=graph)


def _faster(node: Node, sizes: _Sizes) -> Mapping[Isa, Callable[[], Kernel]]:
    """Return the kernels of a convolution for other instructions."""
    if node.input(0).is_constant or node.zero_point(node.input(1)):
        return {}
    _, faster = conv_2d_forms(_as_convolution(node, sizes))
    kernels = {**faster, Isa.DSP: lambda: _divided(node, sizes, faster[Isa.DSP]())}

    def without_pitches(kernel: Callable[[], Kernel]) -> Callable[[], Kernel]:
        return lambda: _without_pitches(kernel())

    return {isa: without_pitches(kernel) for isa, kernel in kernels.items()}


def _divided(node: Node, sizes: _Sizes, kernel: Kernel) -> Kernel:
    """Return a kernel with the sums of parts of the inputs, where those of all inputs are wide."""
    parts = next((n for n in range(1, MOST_TAPS + 1) if sizes.inputs % n == 0 and sizes.inputs // n <= _PART), 1)
    if parts == 1 or not _is_wide(kernel):
        return kernel
    _, faster = conv_2d_forms(_as_convolution(node, sizes, parts))
    divided = faster[Isa.DSP]()
    return kernel if _is_wide(divided) else divided


def _is_wide(kernel: Kernel) -> bool:
    parameters = kernel.calls[0].parameters
    return parameters is not None and ("is_wide", 1) in parameters.fields


def _dynamic(node: Node, sizes: _Sizes) -> Kernel:
    """Batches are images of one pixel that are convolved with filters of one pixel."""
    batches, inputs, outputs = sizes
    options = node.options(FullyConnected)
    if options.activation in (Activation.TANH, Activation.SIGN_BIT):  # which TensorFlow Lite Micro ignores, not LiteRT
        raise Unsupported(f"it has no kernel with the activation {options.activation.name}")
    is_symmetric = not options.asymmetric_quantize_inputs
    extra = ("output_channels", outputs), ("groups", 1)
    pixels = Images(batches, Slide(1), Slide(1), Pitches(inputs, outputs))
    nest = nests.conv_2d(pixels, inputs, outputs, nests.filters(pixels, inputs))
    convolution = DynamicConvolution("conv_2d", pixels, inputs, extra, 0, is_symmetric, nest)
    return dynamic_kernel(node, convolution, options.activation)
