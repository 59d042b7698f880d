"""CONV_2D and DEPTHWISE_CONV_2D."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Operand
from usmp_build.ir.graph import DType
from usmp_build.kernels import nests_of_sums as nests
from usmp_build.kernels.arithmetic_of_sums import Arithmetic, arithmetic
from usmp_build.kernels.candidates import fastest
from usmp_build.kernels.convolved_image import ConvolvedImage, convolved_image
from usmp_build.kernels.dsp.convolution import conv_2d_dsp, depthwise_dsp
from usmp_build.kernels.mve.convolution import conv_2d_mve, depthwise_mve
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Nest, kernel, rows_of
from usmp_build.kernels.nests_of_sums import Shares
from usmp_build.kernels.node import Node
from usmp_build.kernels.pitches import PITCHED, pitch_fields
from usmp_build.kernels.portable.dynamic_range import DynamicConvolution, dynamic_kernel, is_dynamic
from usmp_build.kernels.portable.packed_weights import perhaps_packed
from usmp_build.kernels.portable.window_sums import added_up, is_less_as_sums
from usmp_build.kernels.scalar.convolution import conv_2d_scalar, depthwise_scalar
from usmp_build.kernels.weights import BLOCK
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D
from usmp_build.request import Isa

_SHORT_WINDOW = 256
"""Most taps whose products of int16 and int8, of 23 bits each, fit a sum of 32 bits."""


@perhaps_packed
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
    convolution, images = _Convolution(replace(image, groups=groups), 0), image.images
    weights = nests.filters(images, channels)
    if convolution.is_dynamic:
        is_symmetric = len(node.scales(image.weights, filters)) == 1
        extra = ("output_channels", filters), ("groups", groups)
        nest = nests.grouped_conv_2d(images, groups, channels, each, weights)
        return convolution.dynamic("conv_2d", extra, is_symmetric, nest), {}

    how = convolution.arithmetic()
    if groups > 1:
        extra = ("output_channels", each), ("groups", groups)
        nest = nests.grouped_conv_2d(images, groups, channels, each, weights, *how.spans)
        return convolution.kernel("grouped_conv_2d", extra, how, nest), {}
    nest = nests.conv_2d(images, channels, filters, weights, *how.spans)
    portable = convolution.kernel("conv_2d", (("output_channels", filters),), how, nest)
    makers = {Isa.MVE: conv_2d_mve, Isa.DSP: conv_2d_dsp, Isa.SCALAR: conv_2d_scalar}
    return portable, {isa: partial(make, image, how, portable) for isa, make in makers.items()}


@perhaps_packed
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
    convolution, extra = _Convolution(image, 3), (("depth_multiplier", multiplier),)
    sizes = image.input.shape[3], multiplier, _outputs_at_once(image, multiplier)
    weights = nests.channel_filters(image.images)
    if convolution.is_dynamic:
        nest = nests.depthwise_conv_2d(image.images, *sizes, weights)
        return convolution.dynamic("depthwise_conv_2d", extra, False, nest)

    how = convolution.arithmetic()
    nest = nests.depthwise_conv_2d(image.images, *sizes, weights, *how.spans)
    portable = convolution.kernel("depthwise_conv_2d", extra, how, nest)
    makers = {Isa.MVE: depthwise_mve, Isa.DSP: depthwise_dsp, Isa.SCALAR: depthwise_scalar}
    return fastest(node, {isa: partial(make, image, how, portable) for isa, make in makers.items()}, portable)


def _outputs_at_once(image: ConvolvedImage, multiplier: int) -> int:
    """Return how many outputs a DEPTHWISE_CONV_2D makes at once, if as many lie over as many inputs, or over one."""
    if image.input.dtype is DType.FLOAT32:
        return BLOCK if multiplier == 1 else 1
    is_long = image.window[0] * image.window[1] > _SHORT_WINDOW
    return 1 if image.input.dtype is DType.INT16 and is_long else BLOCK


@frozen
class _Convolution:
    """What both kinds of convolution have in common."""

    image: ConvolvedImage
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

    def kernel(self, name: str, extra: tuple[tuple[str, int], ...], how: Arithmetic, nest: Nest) -> Kernel:
        """Put the portable kernel together; `extra` are parameters that only this kind has.

        Pixels may lie apart; where they do not, CONV_2D reads a row of the window at once.
        """
        image, is_full = self.image, isinstance(self.image.options, Conv2D)
        narrow = (("narrow", int(how.is_narrow)),) if is_full and how.elements is DType.INT16 else ()
        made = kernel(
            image.node,
            c_name(name, how.elements, part="row"),
            nest,
            (*image.fields(extra), *narrow, *how.fields, *pitch_fields(image.pitches)),
            form=rows_of(nest),
            constants=how.constants,
        )
        if image.groups > 1:
            return replace(made, pitched=PITCHED)
        dense = is_full and image.options.dilation_w == 1 and image.window[1] > 1
        slower = frozenset({Input(0)}) if dense else frozenset[Operand]()
        is_less = is_less_as_sums(image.node, how.sums)
        by_rows = self._added_up(made.calls[0], f"{name}_sums", how) if is_less else None
        return replace(made, pitched=PITCHED, slower=slower, by_rows=by_rows)

    @property
    def is_dynamic(self) -> bool:
        """Whether the input is quantized when it arrives."""
        return is_dynamic(self.image.input, self.image.weights, self.image.output)

    def dynamic(self, name: str, extra: tuple[tuple[str, int], ...], is_symmetric: bool, nest: Nest) -> Kernel:
        """Return the kernel of a convolution whose input is quantized when it arrives."""
        image, options = self.image, self.image.options
        convolution = DynamicConvolution(
            name, image.images, image.input.shape[3], extra, self.channel_axis, is_symmetric, nest
        )
        return dynamic_kernel(image.node, convolution, options.activation)

    def _added_up(self, whole: KernelCall, does: str, how: Arithmetic) -> Kernel:
        """Return the kernel that adds up the rows of the image, given the call for the only row of the output."""
        assert whole.parameters is not None
        image, images, channels = self.image, self.image.images, self.image.input.shape[3]
        fields = [field for field in whole.parameters.fields if field not in pitch_fields(image.pitches)]
        at = [name for name, _ in fields].index("before") + 1
        fields[at:at] = ("dilation_down", images.down.dilation), ("above", images.down.before)
        is_full = isinstance(image.options, Conv2D)
        shares = Shares(1, channels, image.channels) if is_full else Shares(channels, 1, image.channels // channels)
        nest = nests.added_up(images.across.output, images.across.under(image.pitches.input), shares)
        return added_up(image.node, whole, does, tuple(fields), nest, images.down.inside, how.constants, how.sums)
