"""FULLY_CONNECTED."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from usmp_build.arithmetic.fixed_point import Factor
from usmp_build.interfaces.accesses import Window
from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Rows,
    Traffic,
    Value,
    Whole,
)
from usmp_build.ir.graph import DType
from usmp_build.kernels.reference import packing_mve
from usmp_build.kernels.reference.accesses_of_sums import Row, conv_2d_accesses, fully_connected_accesses
from usmp_build.kernels.reference.activation import quantized_limits, real_limits
from usmp_build.kernels.reference.arithmetic_of_sums import arithmetic, check_symmetric, check_wide_sums
from usmp_build.kernels.reference.candidates import Declined, fastest
from usmp_build.kernels.reference.dynamic_range import Axis, DynamicConvolution, dynamic_kernel, is_dynamic
from usmp_build.kernels.reference.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.reference.packed_weights import perhaps_packed
from usmp_build.kernels.reference.packing_dsp import WORD, filters, packed
from usmp_build.kernels.reference.requantization import factor, factor_pairs, wide
from usmp_build.kernels.reference.weights import BLOCK, bias_operand, blocks, check_sums
from usmp_build.operators.sums import FullyConnected
from usmp_build.request import Isa

_FACTOR_BYTES = 8
"""Bytes of a multiplier and a shift."""
_BIAS_TOLERANCE = 0.02
"""Tolerance of the scale of the bias, relative to the scale of the output."""


class _Sizes(NamedTuple):
    """Named as in the parameters of the C functions."""

    batches: int
    inputs: int
    outputs: int


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
    node.array(1, "weights")
    sizes = _Sizes(batches, inputs, outputs)
    if is_dynamic(source, weights, output):
        return _dynamic(node, sizes)
    types = source.dtype, weights.dtype, output.dtype
    if types == (DType.FLOAT32, DType.FLOAT32, DType.FLOAT32):
        return _float32(node, sizes)
    if types not in {(DType.INT8, DType.INT8, DType.INT8), (DType.INT16, DType.INT8, DType.INT16)}:
        raise unsupported_types(source, weights, output)
    if weights.quantization is not None and weights.quantization.per_channel:
        return _per_channel(node, sizes)
    return _int8(node, sizes) if source.dtype is DType.INT8 else _int16(node, sizes)


def _float32(node: Node, sizes: _Sizes) -> Kernel:
    bias, constants = bias_operand(node, sizes.outputs, DType.FLOAT32)
    options = node.options(FullyConnected)
    low, high = real_limits(options.activation, options.limits)
    parameters = Parameters("fully_connected_f32_parameters", (*sizes._asdict().items(), ("low", low), ("high", high)))
    operands = (Input(0), Input(1), bias or Derived(0), Output(0))
    traffic = _traffic(node, sizes.outputs)
    accesses = fully_connected_accesses(*sizes, 4, len(operands))
    call = KernelCall("fully_connected_f32", Whole(), operands, parameters, traffic, accesses=accesses)
    return Kernel((call,), constants)


def _int8(node: Node, sizes: _Sizes) -> Kernel:
    source, weights, output = node.input(0), node.input(1), node.output
    check_sums(node, sizes.inputs, weights)
    _check_bias_scale(node)
    bias, zeros = bias_operand(node, sizes.outputs, DType.INT32)
    scale = factor(node, node.scale(source) * node.scale(weights) / node.scale(output))
    constants = (factor_pairs("factor", scale), *zeros)
    options = node.options(FullyConnected)
    low, high = quantized_limits(node, options.activation, output, options.limits)
    fields = (
        *sizes._asdict().items(),
        ("input_zero_point", node.zero_point(source)),
        ("weights_zero_point", node.zero_point(weights)),
        ("output_zero_point", node.zero_point(output)),
        ("low", low),
        ("high", high),
    )
    operands = (Input(0), Input(1), bias or Derived(1), Derived(0), Output(0))
    parameters = Parameters("fully_connected_s8_parameters", fields)
    *read, written = _traffic(node, sizes.outputs, sums_inputs=node.zero_point(weights) != 0)
    traffic = (*read, Traffic(_FACTOR_BYTES), written)
    accesses = fully_connected_accesses(*sizes, 1, len(operands))
    call = KernelCall("fully_connected_s8", Whole(), operands, parameters, traffic, accesses=accesses)
    portable = Kernel((call,), constants)
    return fastest(node, _candidates(node, sizes, (scale,) * sizes.outputs), portable)


def _int16(node: Node, sizes: _Sizes) -> Kernel:
    source, weights, output = node.input(0), node.input(1), node.output
    check_symmetric(node, source, weights, output)
    _check_bias_scale(node)
    bias, zeros = bias_operand(node, sizes.outputs, DType.INT64)
    check_wide_sums(sizes.inputs, node.optional(2))
    scale = wide(node, factor(node, node.scale(source) * node.scale(weights) / node.scale(output)))
    options = node.options(FullyConnected)
    low, high = quantized_limits(node, options.activation, output, options.limits)
    operands = (Input(0), Input(1), bias or Derived(1), Derived(0), Output(0))
    parameters = Parameters("fully_connected_s16_parameters", (*sizes._asdict().items(), ("low", low), ("high", high)))
    *read, written = _traffic(node, sizes.outputs)
    traffic = (*read, Traffic(_FACTOR_BYTES), written)
    accesses = fully_connected_accesses(*sizes, 2, len(operands))
    call = KernelCall("fully_connected_s16", Whole(), operands, parameters, traffic, accesses=accesses)
    return Kernel((call,), (factor_pairs("factor", scale), *zeros))


def _traffic(node: Node, outputs: int, sums_inputs: bool = False) -> tuple[Traffic, ...]:
    """Of input, weights, bias and output; a zero point of the weights asks for the sum of all inputs, too."""
    source, weights, output = node.input(0), node.input(1), node.output
    passes = blocks(outputs)
    return (
        Traffic(source.size * (passes + sums_inputs)),
        Traffic(source.elements * passes * BLOCK * weights.dtype.bits // 8),
        Traffic(output.elements * (8 if source.dtype is DType.INT16 else 4)),
        Traffic(written=output.size),
    )


def _check_bias_scale(node: Node) -> None:
    """A bias that was quantized with another scale than its sums adds something else than it says."""
    bias = node.optional(2)
    if bias is None or bias.quantization is None or not bias.quantization.scales:
        return
    difference = node.scale(node.input(0)) * node.scale(node.input(1)) - bias.quantization.scales[0]
    if abs(difference) / node.scale(node.output) > _BIAS_TOLERANCE:
        raise Unsupported("the scale of its biases is not that of its inputs times that of its weights")


def _per_channel(node: Node, sizes: _Sizes) -> Kernel:
    """A scale for each output: the batches are the pixels of an image that is convolved with filters of one pixel."""
    node.streamed()
    options = node.options(FullyConnected)
    how = arithmetic(node, sizes.inputs, 0, options.activation, options.limits)
    narrow = (("narrow", 0),) if how.suffix == "s16" else ()
    read, weighed, _, written = _traffic(node, sizes.outputs)
    elements = sizes.batches * sizes.outputs
    traffic = (read, weighed, *(Traffic(width * elements) for width in how.widths), written)
    operands = (Input(0), Input(1), *how.operands, Output(0))
    call = _pixels(node, sizes, how.suffix, (*narrow, *how.fields), operands, traffic)
    portable = Kernel((call,), how.constants)
    return fastest(node, _candidates(node, sizes, how.factors), portable)


def _pixels(
    node: Node,
    sizes: _Sizes,
    suffix: str,
    fields: tuple[tuple[str, Value], ...],
    operands: tuple[Operand, ...],
    traffic: tuple[Traffic, ...],
) -> KernelCall:
    """Return the call that convolves batches, the pixels of an image, with filters of one pixel."""
    batches, inputs, outputs = sizes
    fields = (
        ("input_width", 1),
        ("input_channels", inputs),
        ("output_width", 1),
        ("output_channels", outputs),
        ("window_height", 1),
        ("window_width", 1),
        ("stride", 1),
        ("dilation", 1),
        ("before", 0),
        *fields,
        ("input_pitch", inputs),
        ("output_pitch", outputs),
    )
    form = Rows(images=1, rows=batches, input_rows=batches, input_row_elements=inputs, output_row_elements=outputs)
    parameters = Parameters(f"conv_2d_{suffix}_parameters", fields)
    row = Row(1, outputs, Window(loop=0, pitch=inputs, size=1))
    accesses = conv_2d_accesses(row, inputs, outputs, node.input(0).dtype.bits // 8, len(operands))
    return KernelCall(f"conv_2d_{suffix}_row", form, operands, parameters, traffic, accesses=accesses)


def _candidates(node: Node, sizes: _Sizes, factors: tuple[Factor, ...]) -> Mapping[Isa, Callable[[], Kernel]]:
    """Return the faster kernels; `factors` are those of the outputs."""
    return {Isa.MVE: lambda: _mve(node, sizes, factors), Isa.DSP: lambda: _dsp(node, sizes, factors)}


def _dsp(node: Node, sizes: _Sizes, factors: tuple[Factor, ...]) -> Kernel:
    """Return the kernel of int8 with Arm's DSP extension: that of a convolution with a window of one pixel."""
    weights = _plain_weights(node)
    if sizes.inputs < WORD:
        raise Declined(f"it has fewer than {WORD} inputs")
    constant = packed(filters(node, weights, factors), 1)
    words = -(-sizes.inputs // WORD)
    traffic = (
        Traffic(sizes.batches * blocks(sizes.outputs) * words * WORD),
        Traffic(sizes.batches * len(constant.data)),
        Traffic(written=node.output.size),
    )
    return _packed(node, sizes, "conv_2d_1x1_s8_dsp_row", constant, traffic)


def _mve(node: Node, sizes: _Sizes, factors: tuple[Factor, ...]) -> Kernel:
    """Return the same with Helium; what fits registers is read once for all outputs."""
    batches, inputs, outputs = sizes
    constant = packing_mve.packed(packing_mve.filters(node, _plain_weights(node), factors), 1)
    is_short = inputs <= packing_mve.SHORT
    passes = 1 if is_short else blocks(outputs)
    weights = len(constant.data) if is_short else blocks(outputs) * BLOCK * (inputs + packing_mve.FACTORS)
    traffic = Traffic(node.input(0).size * passes), Traffic(batches * weights), Traffic(written=node.output.size)
    function = "conv_2d_short_s8_mve_row" if is_short else "conv_2d_rows_s8_mve_row"
    return _packed(node, sizes, function, constant, traffic)


def _plain_weights(node: Node) -> NDArray[np.int64]:
    """Return weights of int8 without a zero point, for inputs of int8; decline others."""
    source, weights = node.input(0), node.input(1)
    if source.is_constant:
        raise Declined("its input is a constant")
    if source.dtype is not DType.INT8:
        raise Declined(f"it is for int8, not {source.dtype.name}")
    if node.zero_point(weights):
        raise Declined("its weights have a zero point")
    return node.array(1, "weights").astype(np.int64)


def _packed(node: Node, sizes: _Sizes, function: str, constant: Constant, traffic: tuple[Traffic, ...]) -> Kernel:
    """Return the kernel with a function for packed weights."""
    source, output, options = node.input(0), node.output, node.options(FullyConnected)
    low, high = quantized_limits(node, options.activation, output, options.limits)
    fields = (
        ("input_zero_point", node.zero_point(source)),
        ("output_zero_point", node.zero_point(output)),
        ("low", low),
        ("high", high),
    )
    call = _pixels(node, sizes, "s8", fields, (Input(0), Derived(0), Output(0)), traffic)
    return Kernel((replace(call, function=function),), (constant,))


def _dynamic(node: Node, sizes: _Sizes) -> Kernel:
    """Batches are images of one pixel that are convolved with filters of one pixel."""
    batches, inputs, outputs = sizes
    options, passes = node.options(FullyConnected), blocks(outputs)
    is_symmetric = not options.asymmetric_quantize_inputs
    reads = passes * inputs, passes * inputs * BLOCK
    extra = "output_channels", outputs
    convolution = DynamicConvolution("conv_2d", batches, (Axis(1), Axis(1)), inputs, extra, 0, is_symmetric, reads)
    return dynamic_kernel(node, convolution, options.activation)


KERNELS = {"FULLY_CONNECTED": perhaps_packed(fully_connected)}
