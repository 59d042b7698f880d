"""Windows that slide over an image: TFLite's rules for padding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from usmp_build.arithmetic import windows
from usmp_build.frozen import frozen
from usmp_build.interfaces.accesses import Window
from usmp_build.interfaces.call_traffic import positions
from usmp_build.interfaces.kernels import Input
from usmp_build.ir.options import Padding
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.pitches import Pitches
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.sums import Conv2D, DepthwiseConv2D

_MOST_TAPS = 256
"""Most taps of a window along one axis: the generated code keeps a pointer for each of its rows on the stack."""


@frozen
class Slide:
    """An axis of an image, and the window that slides along it.

    Output i is made of the pixels `(i * stride + phase) / repeat - before + tap * dilation`.
    """

    size: int
    """Pixels of the image."""
    output: int = 1
    """Number of positions of the window."""
    window: int = 1
    stride: int = 1
    dilation: int = 1
    before: int = 0
    """Padding before the first pixel."""
    repeat: int = 1
    phase: int = 0
    is_transposed: bool = False
    """Whether the window slides along the outputs instead, and each pixel of the image reaches those under it."""

    @property
    def inside(self) -> int:
        """Pixels under the window, in all its positions together, that are not padding.

        >>> Slide(size=4, output=4, window=3, before=1).inside
        10
        """
        return positions([self.over(0, 1)], self.output)

    def first(self, position: int) -> int:
        """Return the first pixel under the window at a position, which may be outside the image."""
        return (position * self.stride + self.phase) // self.repeat - self.before

    def as_rows(self) -> Slide:
        """Return the window over the rows that an output row may need; of a transposed one, those that may reach it.

        Input row r reaches the output rows from `r * stride - before` on, `window` of them:

            y + before      0 1 2 3 4 5 6     window 3, stride 2: two rows may reach each
            row 0           * * *
            row 1               * * *
            row 2                   * * *
        """
        if not self.is_transposed:
            return self
        reaching = (self.window - 1) // self.stride + 1
        before = reaching - 1 - self.before // self.stride
        return Slide(
            self.size, self.output, reaching, before=before, repeat=self.stride, phase=self.before % self.stride
        )

    def over(self, loop: int, pitch: int) -> Window:
        """Return the window over pixels `pitch` elements apart, along a loop over outputs."""
        if self.is_transposed:
            before = self.window - 1 - self.before
            return Window(loop, pitch, self.size, self.window, before=before, every=self.stride)
        sizes = self.size, self.window, self.stride, self.dilation, self.before, self.repeat, self.phase
        return Window(loop, pitch, *sizes)

    def under(self, pitch: int) -> Under:
        """Return the pixels under the window, which are `pitch` elements apart."""
        return Under(self, pitch)


class Under(NamedTuple):
    """The pixels under a window."""

    slide: Slide
    pitch: int
    """Elements from one pixel to the next."""


class Border(NamedTuple):
    """How windows treat the border along one axis."""

    padding: Padding
    frame: tuple[int, int] | None = None
    """Pixels before and after the image, in place of padding."""


def borders(options: Conv2D | DepthwiseConv2D | Pool2D) -> tuple[Border, Border]:
    """Return the borders along rows and along columns: above and below, left and right."""
    above, below, left, right = options.frame or (0, 0, 0, 0)
    vertical, horizontal = ((above, below), (left, right)) if options.frame else (None, None)
    return Border(options.padding, vertical), Border(options.padding, horizontal)


def slide(node: Node, border: Border, size: int, window: int, stride: int, dilation: int = 1) -> Slide:
    """Return the positions of a window along an axis of `size` pixels.

    SAME covers every pixel; VALID stays inside.  With a frame, it stays inside that.
    """
    node.expect(min(window, stride, dilation) >= 1, "has a window, stride or dilation of 0")
    reach = windows.reach(window, dilation)
    if max(reach, stride) > windows.WIDEST or window > _MOST_TAPS:
        raise Unsupported("its window is too wide")
    if border.frame is not None:
        before, after = border.frame
        places = windows.places_in_frame(size, (before, after), reach, stride)
        node.expect(places > 0, f"has a window of {reach} pixels over an image of {size} in a frame")
        if not windows.sees_pixels(size, before, places, reach, stride):
            raise Unsupported("its window covers only padding at some position")
        return Slide(size, places, window, stride, dilation, before)
    if border.padding is Padding.VALID:
        node.expect(reach <= size, f"has a window of {reach} pixels over an image of {size}")
        return Slide(size, (size - reach) // stride + 1, window, stride, dilation)
    before = windows.same_padding(size, reach, stride)[0]
    return Slide(size, -(-size // stride), window, stride, dilation, before)


@frozen
class Images:
    """Images, the window that slides over them, and the images that come of it."""

    count: int
    down: Slide
    across: Slide
    pitches: Pitches
    input: Input = field(default=Input(0))

    @property
    def axes(self) -> Mapping[str, int]:
        """The loops over the pixels of the output."""
        return {"images": self.count, "rows": self.down.output, "pixels": self.across.output}

    @property
    def under(self) -> dict[str, int | Under]:
        """The pixels of the input that are under the window, along these axes."""
        pixel = self.pitches.input
        row = self.across.size * pixel
        return {"images": self.down.size * row, "rows": self.down.under(row), "pixels": self.across.under(pixel)}

    @property
    def places(self) -> dict[str, int | Under]:
        """The pixels of the output, along these axes."""
        pixel = self.pitches.output
        row = self.across.output * pixel
        return {"images": self.down.output * row, "rows": row, "pixels": pixel}

    @property
    def weighed(self) -> dict[str, int | Under]:
        """The weights of the pixels under the window, along these axes."""
        return {"rows": self.down.under(0), "pixels": self.across.under(0)}

    @property
    def inside(self) -> int:
        """Pixels under the window, in all its positions over all images, that are not padding."""
        return self.count * self.down.inside * self.across.inside

    def fields(self, channels: int, extra: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        """Return the first parameters of functions that take all images at once; `extra` are those of one kind."""
        down, across = self.down, self.across
        dilations = (("dilation_down", down.dilation), ("dilation", across.dilation))
        return (
            ("images", self.count),
            ("input_height", down.size),
            ("input_width", across.size),
            ("input_channels", channels),
            ("output_height", down.output),
            ("output_width", across.output),
            *extra,
            ("window_height", down.window),
            ("window_width", across.window),
            ("stride_down", down.stride),
            ("stride", across.stride),
            *(() if down.is_transposed else dilations),
            ("above", down.before),
            ("before", across.before),
        )
