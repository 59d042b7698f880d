"""The image that a convolution slides its window over: its geometry in all the forms that kernels need."""

from __future__ import annotations

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Tensor
from usmp_build.kernels.node import Node
from usmp_build.kernels.pitches import Pitches, pitches
from usmp_build.kernels.window import Images, borders, slide
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D


@frozen
class ConvolvedImage:
    """The tensors of a convolution, and the positions of its window."""

    node: Node
    options: Conv2D | DepthwiseConv2D
    input: Tensor
    weights: Tensor
    output: Tensor
    images: Images
    groups: int = 1

    @property
    def pitches(self) -> Pitches:
        """From one pixel to the next."""
        return self.images.pitches

    @property
    def channels(self) -> int:
        """Of the output."""
        return self.output.shape[3]

    @property
    def window(self) -> tuple[int, int]:
        """Height and width, in pixels."""
        return self.images.down.window, self.images.across.window

    def taps_outside(self) -> int:
        """Count the pixels under the window, in all its positions over all images, that are padding."""
        height, width = self.window
        return self.output.elements // self.channels * height * width - self.images.inside

    def fields(self, extra: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        """Return the first parameters in the structs of convolutions; `extra` are those that only one kind has."""
        down, across = self.images.down, self.images.across
        return (
            ("input_width", across.size),
            ("input_channels", self.input.shape[3] // self.groups),
            ("output_width", across.output),
            *extra,
            ("window_height", down.window),
            ("window_width", across.window),
            ("stride", across.stride),
            ("dilation", across.dilation),
            ("before", across.before),
        )


def convolved_image(node: Node, options: Conv2D | DepthwiseConv2D) -> ConvolvedImage:
    """Return the image that an operator slides its window over.  Raises where shapes contradict each other."""
    source, weights, output = node.streamed(), node.input(1), node.output
    node.expect(all(len(t.shape) == 4 for t in (source, weights, output)), "works on tensors without four dimensions")
    height, width = weights.shape[1:3]
    vertical, horizontal = borders(options)
    down = slide(node, vertical, source.shape[1], height, options.stride_h, options.dilation_h)
    across = slide(node, horizontal, source.shape[2], width, options.stride_w, options.dilation_w)
    expected = [source.shape[0], down.output, across.output]
    node.expect(list(output.shape[:3]) == expected, f"makes an image of shape {expected}, not {list(output.shape[:3])}")
    return ConvolvedImage(node, options, source, weights, output, Images(source.shape[0], down, across, pitches(node)))
