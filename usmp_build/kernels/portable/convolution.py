"""CONV_2D and DEPTHWISE_CONV_2D."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from usmp_build.interfaces.accesses import Accesses
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Operand, Output, Parameters, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels.accesses_of_sums import (
    Row,
    Shares,
    added_up_accesses,
    conv_2d_accesses,
    depthwise_accesses,
    grouped_conv_2d_accesses,
)
from usmp_build.kernels.arithmetic_of_sums import Arithmetic, arithmetic
from usmp_build.kernels.candidates import fastest
from usmp_build.kernels.convolved_image import ConvolvedImage, convolved_image
from usmp_build.kernels.dsp.convolution import conv_2d_dsp, depthwise_dsp
from usmp_build.kernels.mve.convolution import conv_2d_mve, depthwise_mve
from usmp_build.kernels.names import c_name
from usmp_build.kernels.node import Node
from usmp_build.kernels.pitches import PITCHED, pitch_fields
from usmp_build.kernels.portable.dynamic_range import Axis, DynamicConvolution, dynamic_kernel, is_dynamic
from usmp_build.kernels.portable.packed_weights import perhaps_packed
from usmp_build.kernels.portable.window_sums import added_up, is_less_as_sums
from usmp_build.kernels.weights import BLOCK, blocks
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D
from usmp_build.request import Isa

_SHORT_WINDOW = 256
"""Most taps whose products of int16 and int8, of 23 bits each, fit a sum of 32 bits."""


def conv_2d(node: Node) -> Kernel:
    """A filter for every output channel, over all input channels."""
    portable, faster = conv_2d_forms(node)
    return fastest(node, faster, portable)


def conv_2d_forms(node: Node) -> tuple[Kernel, Mapping[Isa, Callable[[], Kernel]]]:
    """Return the portable kernel, and those for other instructions."""
    image = convolved_image(node, node.options(Conv2D))
    filters, _, _, channels = image.weights.shape
    groups, rest = divmod(image.input.shape[3], channels)
    node.expect(rest == 0, f"has {image.input.shape[3]} input channels, but filters over {channels}")
    each, rest = divmod(filters, groups)
    node.expect(rest == 0, f"has {filters} filters for {groups} groups of channels")
    node.expect(image.output.shape[3] == filters, "does not have one output channel for each filter")
    inputs = groups * blocks(each) * channels
    elements = _Elements(inputs, inputs * BLOCK)
    convolution = _Convolution(replace(image, groups=groups), elements, 0)
    if convolution.is_dynamic:
        is_symmetric = len(node.scales(image.weights, filters)) == 1
        extra = ("output_channels", filters), ("groups", groups)
        return convolution.dynamic("conv_2d", extra, is_symmetric), {}

    def row_accesses(row: Row, element_size: int, operands: int) -> Accesses:
        if groups == 1:
            return conv_2d_accesses(row, channels, filters, element_size, operands)
        return grouped_conv_2d_accesses(row, groups, channels, each, element_size, operands)

    how = convolution.arithmetic()
    if groups > 1:
        extra = ("output_channels", each), ("groups", groups)
        return convolution.kernel("grouped_conv_2d", extra, how, row_accesses), {}
    portable = convolution.kernel("conv_2d", (("output_channels", filters),), how, row_accesses)
    faster = {Isa.MVE: lambda: conv_2d_mve(image, how, portable), Isa.DSP: lambda: conv_2d_dsp(image, how, portable)}
    return portable, faster


def depthwise_conv_2d(node: Node) -> Kernel:
    """For every input channel, `depth_multiplier` separate filters."""
    options = node.options(DepthwiseConv2D)
    image = convolved_image(node, options)
    one, _, _, output_channels = image.weights.shape
    multiplier, rest = divmod(output_channels, image.input.shape[3])
    declared = options.depth_multiplier or multiplier
    node.expect(
        one == 1 and rest == 0 and multiplier == declared, "has filters that do not share out among its channels"
    )
    node.expect(image.output.shape[3] == output_channels, "does not have one output channel for each filter")
    block = _outputs_at_once(image, multiplier)
    shared = block == BLOCK and multiplier % BLOCK == 0
    elements = _Elements(output_channels // BLOCK if shared else output_channels, output_channels)
    convolution = _Convolution(image, elements, 3)
    if convolution.is_dynamic:
        return convolution.dynamic("depthwise_conv_2d", (("depth_multiplier", multiplier),), False)

    def row_accesses(row: Row, element_size: int, operands: int) -> Accesses:
        return depthwise_accesses(row, image.input.shape[3], multiplier, element_size, operands, block)

    how = convolution.arithmetic()
    portable = convolution.kernel("depthwise_conv_2d", (("depth_multiplier", multiplier),), how, row_accesses)
    return fastest(
        node,
        {Isa.MVE: lambda: depthwise_mve(image, how, portable), Isa.DSP: lambda: depthwise_dsp(image, how, portable)},
        portable,
    )


def _outputs_at_once(image: ConvolvedImage, multiplier: int) -> int:
    """Return how many outputs a DEPTHWISE_CONV_2D makes at once, if as many lie over as many inputs, or over one."""
    if image.input.dtype is DType.FLOAT32:
        return BLOCK if multiplier == 1 else 1
    is_long = image.window[0] * image.window[1] > _SHORT_WINDOW
    return 1 if image.input.dtype is DType.INT16 and is_long else BLOCK


class _Elements(NamedTuple):
    """What is read for one pixel under the window."""

    inputs: int
    weights: int


_RowAccesses: TypeAlias = Callable[[Row, int, int], Accesses]
"""From a row of the output, the bytes of an element and the number of operands: the accesses of the call for it."""


@dataclass(frozen=True)
class _Convolution:
    """What both kinds of convolution have in common."""

    image: ConvolvedImage
    elements: _Elements
    channel_axis: int
    """Of the weights: that of the outputs."""

    def arithmetic(self) -> Arithmetic:
        """Return how its sums become outputs."""
        image, options = self.image, self.image.options
        products = image.weights.elements // image.channels
        biases = frozenset({DType.INT32} if isinstance(options, Conv2D) else ())
        return arithmetic(
            image.node, products, self.channel_axis, options.activation, options.limits, other_biases=biases
        )

    def kernel(
        self, name: str, extra: tuple[tuple[str, int], ...], how: Arithmetic, row_accesses: _RowAccesses
    ) -> Kernel:
        """Put the portable kernel together; `extra` are parameters that only this kind has."""
        image = self.image
        narrow = (("narrow", int(how.is_narrow)),) if self._may_be_narrow and how.elements is DType.INT16 else ()
        fields = (*image.fields(extra), *narrow, *how.fields, *pitch_fields(image.pitches))
        operands = (Input(0), Input(1), *how.operands, Output(0))
        call = KernelCall(
            c_name(name, how.elements, part="row"),
            image.form(),
            operands,
            Parameters(c_name(name, how.elements, part="parameters"), fields),
            self._traffic(how),
            accesses=row_accesses(image.row(), image.input.dtype.bits // 8, len(operands)),
        )
        return self._kernel(call, name, how)

    @property
    def _may_be_narrow(self) -> bool:
        return isinstance(self.image.options, Conv2D)

    @property
    def is_dynamic(self) -> bool:
        """Whether the input is quantized when it arrives."""
        return is_dynamic(self.image.input, self.image.weights, self.image.output)

    def dynamic(self, name: str, extra: tuple[tuple[str, int], ...], is_symmetric: bool) -> Kernel:
        """Return the kernel of a convolution whose input is quantized when it arrives."""
        image, options = self.image, self.image.options
        images, height, width, channels = image.input.shape
        taps, across = image.window
        axes = (
            Axis(height, taps, options.stride_h, options.dilation_h, image.rows),
            Axis(width, across, options.stride_w, options.dilation_w, image.columns),
        )
        convolution = DynamicConvolution(
            name, images, axes, channels, extra, self.channel_axis, is_symmetric, self.elements
        )
        return dynamic_kernel(image.node, convolution, options.activation)

    def _kernel(self, call: KernelCall, name: str, how: Arithmetic) -> Kernel:
        """Declare that pixels may lie apart; where they do not, CONV_2D reads a row of the window at once."""
        image = self.image
        if image.groups > 1:
            return Kernel((call,), how.constants, pitched=PITCHED)
        dense = isinstance(image.options, Conv2D) and image.options.dilation_w == 1 and image.window[1] > 1
        slower = frozenset({Input(0)}) if dense else frozenset[Operand]()
        by_rows = self._added_up(call, f"{name}_sums", how) if is_less_as_sums(image.node, how.sums) else None
        return Kernel((call,), how.constants, pitched=PITCHED, slower=slower, by_rows=by_rows)

    def _added_up(self, call: KernelCall, does: str, how: Arithmetic) -> Kernel:
        """Return the kernel that adds up the rows of the image, given the call for the only row of the output."""
        assert call.parameters is not None
        image = self.image
        fields = [field for field in call.parameters.fields if field not in pitch_fields(image.pitches)]
        at = [name for name, _ in fields].index("before") + 1
        fields[at:at] = ("dilation_down", image.options.dilation_h), ("above", image.rows.before)
        parameters = Parameters(c_name(does, how.elements, part="parameters"), tuple(fields))
        channels = image.input.shape[3]
        is_full = isinstance(image.options, Conv2D)
        shares = Shares(1, channels, image.channels) if is_full else Shares(channels, 1, image.channels // channels)
        size, operands = image.input.dtype.bits // 8, len(call.operands) + 1
        accesses = added_up_accesses(image.row(), shares, size, operands, 2, how.sums.bits // 8)
        function, rows = c_name(does, how.elements), image.rows_inside()
        return added_up(image.node, call, function, parameters, rows, accesses, how.constants, how.sums)

    def _traffic(self, how: Arithmetic) -> Mapping[int, Traffic]:
        """Of the weights, and of biases and factors."""
        image = self.image
        weighed = image.taps_inside() * self.elements.weights * image.weights.dtype.bits // 8
        return {1: Traffic(weighed), **how.traffic(image.output.elements)}


KERNELS = {"CONV_2D": perhaps_packed(conv_2d), "DEPTHWISE_CONV_2D": perhaps_packed(depthwise_conv_2d)}
