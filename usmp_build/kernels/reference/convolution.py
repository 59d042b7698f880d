"""CONV_2D and DEPTHWISE_CONV_2D."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from usmp_build.interfaces.accesses import Accesses, Window
from usmp_build.interfaces.kernels import (
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Rows,
    Traffic,
)
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels.reference.accesses_of_sums import (
    Row,
    Shares,
    added_up_accesses,
    conv_2d_accesses,
    depthwise_accesses,
    grouped_conv_2d_accesses,
)
from usmp_build.kernels.reference.arithmetic_of_sums import Arithmetic, arithmetic
from usmp_build.kernels.reference.dynamic_range import Axis, DynamicConvolution, dynamic_kernel, is_dynamic
from usmp_build.kernels.reference.node import Node
from usmp_build.kernels.reference.packed_weights import perhaps_packed
from usmp_build.kernels.reference.pitches import PITCHED, Pitches, pitch_fields, pitches
from usmp_build.kernels.reference.weights import BLOCK, blocks
from usmp_build.kernels.reference.window import Slide, borders, slide, taps_inside
from usmp_build.kernels.reference.window_sums import added_up, is_less_as_sums
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D


def conv_2d(node: Node) -> Kernel:
    """A filter for every output channel, over all input channels."""
    options = node.options(Conv2D)
    convolution = _convolution(node, options)
    filters, _, _, channels = convolution.weights.shape
    groups, rest = divmod(convolution.input.shape[3], channels)
    node.expect(rest == 0, f"has {convolution.input.shape[3]} input channels, but filters over {channels}")
    each, rest = divmod(filters, groups)
    node.expect(rest == 0, f"has {filters} filters for {groups} groups of channels")
    node.expect(convolution.output.shape[3] == filters, "does not have one output channel for each filter")
    inputs = groups * blocks(each) * channels
    elements = _Elements(inputs, inputs * BLOCK)
    if convolution.is_dynamic and groups == 1:
        is_symmetric = len(node.scales(convolution.weights, filters)) == 1
        return convolution.dynamic("conv_2d", ("output_channels", filters), elements, 0, is_symmetric)

    def row_accesses(row: Row, element_size: int, operands: int) -> Accesses:
        if groups == 1:
            return conv_2d_accesses(row, channels, filters, element_size, operands)
        return grouped_conv_2d_accesses(row, groups, channels, each, element_size, operands)

    if groups == 1:
        return convolution.kernel("conv_2d", (("output_channels", filters),), elements, 0, row_accesses)
    extra = ("output_channels", each), ("groups", groups)
    return replace(convolution, groups=groups).kernel("grouped_conv_2d", extra, elements, 0, row_accesses)


def depthwise_conv_2d(node: Node) -> Kernel:
    """For every input channel, `depth_multiplier` separate filters."""
    options = node.options(DepthwiseConv2D)
    convolution = _convolution(node, options)
    one, _, _, output_channels = convolution.weights.shape
    multiplier, rest = divmod(output_channels, convolution.input.shape[3])
    declared = options.depth_multiplier or multiplier
    node.expect(
        one == 1 and rest == 0 and multiplier == declared, "has filters that do not share out among its channels"
    )
    node.expect(convolution.output.shape[3] == output_channels, "does not have one output channel for each filter")
    shared = convolution.input.dtype is DType.INT8 and multiplier % BLOCK == 0
    elements = _Elements(output_channels // BLOCK if shared else output_channels, output_channels)
    if convolution.is_dynamic:
        return convolution.dynamic("depthwise_conv_2d", ("depth_multiplier", multiplier), elements, 3, False)

    def row_accesses(row: Row, element_size: int, operands: int) -> Accesses:
        block = BLOCK if convolution.input.dtype is DType.INT8 else 1
        return depthwise_accesses(row, convolution.input.shape[3], multiplier, element_size, operands, block)

    return convolution.kernel("depthwise_conv_2d", (("depth_multiplier", multiplier),), elements, 3, row_accesses)


class _Elements(NamedTuple):
    """What is read for one pixel under the window."""

    inputs: int
    weights: int


_RowAccesses: TypeAlias = Callable[[Row, int, int], Accesses]
"""From a row of the output, the bytes of an element and the number of operands: the accesses of the call for it."""


@dataclass(frozen=True)
class _Convolution:
    """What both kinds of convolution have in common."""

    node: Node
    options: Conv2D | DepthwiseConv2D
    input: Tensor
    weights: Tensor
    output: Tensor
    rows: Slide
    columns: Slide
    groups: int = 1

    def kernel(
        self,
        name: str,
        extra: tuple[tuple[str, int], ...],
        elements: _Elements,
        channel_axis: int,
        row_accesses: _RowAccesses,
    ) -> Kernel:
        """Put the kernel together; `extra` are parameters that only this kind has."""
        options, products = self.options, self.weights.elements // self.channels
        biases = frozenset({DType.INT32} if isinstance(options, Conv2D) else ())
        how = arithmetic(self.node, products, channel_axis, options.activation, options.limits, other_biases=biases)
        narrow = (("narrow", int(how.is_narrow)),) if biases and how.suffix == "s16" else ()
        fields = (*self._geometry(extra), *narrow, *how.fields, *pitch_fields(self.pitches))
        operands = (Input(0), Input(1), *how.operands, Output(0))
        call = KernelCall(
            f"{name}_{how.suffix}_row",
            self._form(),
            operands,
            Parameters(f"{name}_{how.suffix}_parameters", fields),
            self._traffic(elements, how.widths),
            accesses=row_accesses(self._row(), self.input.dtype.bits // 8, len(operands)),
        )
        return self._kernel(call, how)

    @property
    def is_dynamic(self) -> bool:
        """Whether the input is quantized when it arrives."""
        return is_dynamic(self.input, self.weights, self.output)

    def dynamic(
        self, name: str, extra: tuple[str, int], elements: _Elements, channel_axis: int, is_symmetric: bool
    ) -> Kernel:
        """Return the kernel of a convolution whose input is quantized when it arrives."""
        options, images, channels = self.options, self.input.shape[0], self.input.shape[3]
        (height, width), (taps, across) = self.input.shape[1:3], self.weights.shape[1:3]
        axes = (
            Axis(height, taps, options.stride_h, options.dilation_h, self.rows),
            Axis(width, across, options.stride_w, options.dilation_w, self.columns),
        )
        convolution = DynamicConvolution(name, images, axes, channels, extra, channel_axis, is_symmetric, elements)
        return dynamic_kernel(self.node, convolution, options.activation)

    def _kernel(self, call: KernelCall, how: Arithmetic) -> Kernel:
        """Declare that pixels may lie apart; where they do not, CONV_2D reads a row of the window at once."""
        if self.groups > 1:
            return Kernel((call,), how.constants, pitched=PITCHED)
        dense = isinstance(self.options, Conv2D) and self.options.dilation_w == 1 and self.weights.shape[2] > 1
        slower = frozenset({Input(0)}) if dense else frozenset[Operand]()
        by_rows = self._added_up(call, how) if is_less_as_sums(self.node, how.sums) else None
        return Kernel((call,), how.constants, pitched=PITCHED, slower=slower, by_rows=by_rows)

    def _added_up(self, call: KernelCall, how: Arithmetic) -> Kernel:
        """Return the kernel that adds up the rows of the image, given the call for the only row of the output."""
        assert call.parameters is not None
        name = call.parameters.struct.removesuffix(f"_{how.suffix}_parameters")
        fields = [field for field in call.parameters.fields if field not in pitch_fields(self.pitches)]
        at = [name for name, _ in fields].index("before") + 1
        fields[at:at] = ("dilation_down", self.options.dilation_h), ("above", self.rows.before)
        parameters = Parameters(f"{name}_sums_{how.suffix}_parameters", tuple(fields))
        channels = self.input.shape[3]
        is_full = isinstance(self.options, Conv2D)
        shares = Shares(1, channels, self.channels) if is_full else Shares(channels, 1, self.channels // channels)
        size, operands = self.input.dtype.bits // 8, len(call.operands) + 1
        accesses = added_up_accesses(self._row(), shares, size, operands, 2, how.sums.bits // 8)
        height, window = self.input.shape[1], self.weights.shape[1]
        rows = taps_inside(self.rows, height, window, self.options.stride_h, self.options.dilation_h)
        return added_up(self.node, call, parameters, rows, accesses, how.constants, how.sums)

    @property
    def pitches(self) -> Pitches:
        """From one pixel to the next."""
        return pitches(self.node)

    @property
    def channels(self) -> int:
        """Of the output."""
        return self.output.shape[3]

    def _traffic(self, elements: _Elements, constants: tuple[int, ...]) -> tuple[Traffic, ...]:
        """Of input, weights, `constants` (bytes for each output element) and output."""
        images, height, across, _ = self.input.shape
        options, (window_height, window_width) = self.options, self.weights.shape[1:3]
        rows = taps_inside(self.rows, height, window_height, options.stride_h, options.dilation_h)
        columns = taps_inside(self.columns, across, window_width, options.stride_w, options.dilation_w)
        taps = images * rows * columns
        return (
            Traffic(taps * elements.inputs * self.input.dtype.bits // 8),
            Traffic(taps * elements.weights * self.weights.dtype.bits // 8),
            *(Traffic(self.output.elements * size) for size in constants),
            Traffic(written=self.output.size),
        )

    def _geometry(self, extra: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        height, width = self.weights.shape[1:3]
        return (
            ("input_width", self.input.shape[2]),
            ("input_channels", self.input.shape[3] // self.groups),
            ("output_width", self.columns.output),
            *extra,
            ("window_height", height),
            ("window_width", width),
            ("stride", self.options.stride_w),
            ("dilation", self.options.dilation_w),
            ("before", self.columns.before),
        )

    def _row(self) -> Row:
        options, columns = self.options, self.columns
        size, taps = self.input.shape[2], self.weights.shape[2]
        window = Window(0, self.pitches.input, size, taps, options.stride_w, options.dilation_w, columns.before)
        return Row(columns.output, self.pitches.output, window)

    def _form(self) -> Rows:
        images, height, width, _ = self.input.shape
        return Rows(
            images=images,
            rows=self.rows.output,
            input_rows=height,
            input_row_elements=width * self.pitches.input,
            output_row_elements=self.columns.output * self.pitches.output,
            window=self.weights.shape[1],
            stride=self.options.stride_h,
            dilation=self.options.dilation_h,
            before=self.rows.before,
        )


def _convolution(node: Node, options: Conv2D | DepthwiseConv2D) -> _Convolution:
    source, weights, output = node.streamed(), node.input(1), node.output
    node.expect(all(len(t.shape) == 4 for t in (source, weights, output)), "works on tensors without four dimensions")
    node.array(1, "weights")
    height, width = weights.shape[1:3]
    vertical, horizontal = borders(options)
    rows = slide(node, vertical, source.shape[1], height, options.stride_h, options.dilation_h)
    columns = slide(node, horizontal, source.shape[2], width, options.stride_w, options.dilation_w)
    expected = [source.shape[0], rows.output, columns.output]
    node.expect(list(output.shape[:3]) == expected, f"makes an image of shape {expected}, not {list(output.shape[:3])}")
    return _Convolution(node, options, source, weights, output, rows, columns)


KERNELS = {"CONV_2D": perhaps_packed(conv_2d), "DEPTHWISE_CONV_2D": perhaps_packed(depthwise_conv_2d)}
