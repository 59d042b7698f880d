"""The image that a convolution slides its window over: its geometry in all the forms that kernels need."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.interfaces.accesses import Window
from usmp_build.interfaces.kernels import Rows
from usmp_build.ir.graph import Tensor
from usmp_build.kernels.accesses_of_sums import Row
from usmp_build.kernels.node import Node
from usmp_build.kernels.pitches import Pitches, pitches
from usmp_build.kernels.window import Slide, borders, slide, taps_inside
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D


@dataclass(frozen=True)
class ConvolvedImage:
    """The tensors of a convolution, and the positions of its window."""

    node: Node
    options: Conv2D | DepthwiseConv2D
    input: Tensor
    weights: Tensor
    output: Tensor
    rows: Slide
    columns: Slide
    groups: int = 1

    @property
    def pitches(self) -> Pitches:
        """From one pixel to the next."""
        return pitches(self.node)

    @property
    def channels(self) -> int:
        """Of the output."""
        return self.output.shape[3]

    @property
    def window(self) -> tuple[int, int]:
        """Height and width, in pixels."""
        height, width = self.weights.shape[1:3]
        return height, width

    def rows_inside(self) -> int:
        """Count the rows under the window, in all its positions, that are not padding."""
        options, height = self.options, self.input.shape[1]
        return taps_inside(self.rows, height, self.window[0], options.stride_h, options.dilation_h)

    def taps_inside(self) -> int:
        """Count the pixels under the window, in all its positions over all images, that are not padding."""
        options, width = self.options, self.input.shape[2]
        columns = taps_inside(self.columns, width, self.window[1], options.stride_w, options.dilation_w)
        return self.input.shape[0] * self.rows_inside() * columns

    def taps_outside(self) -> int:
        """Count those that are padding."""
        height, width = self.window
        return self.output.elements // self.channels * height * width - self.taps_inside()

    def fields(self, extra: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        """Return the first parameters in the structs of convolutions; `extra` are those that only one kind has."""
        height, width = self.window
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

    def row(self) -> Row:
        """Return a row of the output, and the window that moves along it."""
        options, columns = self.options, self.columns
        size, taps = self.input.shape[2], self.weights.shape[2]
        window = Window(0, self.pitches.input, size, taps, options.stride_w, options.dilation_w, columns.before)
        return Row(columns.output, self.pitches.output, window)

    def form(self) -> Rows:
        """Return the loop over rows of the output."""
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


def convolved_image(node: Node, options: Conv2D | DepthwiseConv2D) -> ConvolvedImage:
    """Return the image that an operator slides its window over.  Raises where shapes contradict each other."""
    source, weights, output = node.streamed(), node.input(1), node.output
    node.expect(all(len(t.shape) == 4 for t in (source, weights, output)), "works on tensors without four dimensions")
    height, width = weights.shape[1:3]
    vertical, horizontal = borders(options)
    rows = slide(node, vertical, source.shape[1], height, options.stride_h, options.dilation_h)
    columns = slide(node, horizontal, source.shape[2], width, options.stride_w, options.dilation_w)
    expected = [source.shape[0], rows.output, columns.output]
    node.expect(list(output.shape[:3]) == expected, f"makes an image of shape {expected}, not {list(output.shape[:3])}")
    return ConvolvedImage(node, options, source, weights, output, rows, columns)
