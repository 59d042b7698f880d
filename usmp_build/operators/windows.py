"""The rule of operators with windows that slide over images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

from usmp_build.arithmetic import windows
from usmp_build.ir.options import Frame, Padding
from usmp_build.operators.general_rules import shape_fault
from usmp_build.operators.operands import Fault, Rule, Subject


@runtime_checkable
class Windowed(Protocol):
    """Options of such operators."""

    @property
    def padding(self) -> Padding:
        """How windows treat the border."""

    @property
    def stride_h(self) -> int:
        """Pixels from one place of the window to the next, down."""

    @property
    def stride_w(self) -> int:
        """Pixels from one place of the window to the next, across."""

    @property
    def frame(self) -> Frame | None:
        """Pixels around the image, in place of `padding`."""


def window(channels: str, axis: int, reach: Callable[[Subject], tuple[int, int]]) -> Rule:
    """The output is an image of the places of the window, with the channels of operand `channels`, along its `axis`.

    `reach` says how many pixels a window takes, down and across.
    """

    def rule(subject: Subject) -> Iterator[Fault]:
        options = subject.operator.options
        assert isinstance(options, Windowed)
        images, height, width, _ = subject.shape("input")
        down, across = reach(subject)
        above, below, left, right = options.frame or (0, 0, 0, 0)
        rows = _places(options, height, (above, below), down, options.stride_h)
        columns = _places(options, width, (left, right), across, options.stride_w)
        if not rows or not columns:
            message = f"its window takes {down} × {across} pixels, but its image has {height} × {width}"
            yield Fault("T247", message)
        yield from shape_fault(subject, "output", (images, rows, columns, subject.shape(channels)[axis]))

    return rule


def _places(options: Windowed, size: int, frame: tuple[int, int], reach: int, stride: int) -> int:
    """Count the places of a window along an axis."""
    if options.frame is None and options.padding is Padding.SAME:
        return -(-size // stride)
    return windows.places_in_frame(size, frame, reach, stride)
