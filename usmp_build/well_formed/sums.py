"""Rules of what adds products up: convolutions, FULLY_CONNECTED, SVDF; and of windows, which poolings have, too."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.arithmetic import windows
from usmp_build.ir.options import Conv2D, DepthwiseConv2D, Padding, Pool2D, Svdf
from usmp_build.well_formed.form import Fault, Rule, Subject
from usmp_build.well_formed.rules import count_fault, shape_fault


def window(channels: str) -> Rule:
    """The output is an image of the places of the window, with the channels of operand `channels`.

    These are the last axis of an input or of depthwise filters, and the first one of the filters of CONV_2D.
    """

    def rule(subject: Subject) -> Iterator[Fault]:
        options = subject.operator.options
        assert isinstance(options, Conv2D | DepthwiseConv2D | Pool2D)
        images, height, width, _ = subject.shape("input")
        down, across = _windows(subject, options)
        above, below, left, right = options.frame or (0, 0, 0, 0)
        rows = _places(options, height, (above, below), down, options.stride_h)
        columns = _places(options, width, (left, right), across, options.stride_w)
        if not rows or not columns:
            message = f"its window takes {down} × {across} pixels, but its image has {height} × {width}"
            yield Fault("T247", message)
        depth = subject.shape(channels)[0 if isinstance(options, Conv2D) else -1]
        yield from shape_fault(subject, "output", (images, rows, columns, depth))

    return rule


def _windows(subject: Subject, options: Conv2D | DepthwiseConv2D | Pool2D) -> tuple[int, int]:
    """Return how many pixels a window takes, down and across."""
    if isinstance(options, Pool2D):
        return options.filter_h, options.filter_w
    _, height, width, _ = subject.shape("filters")
    return windows.reach(height, options.dilation_h), windows.reach(width, options.dilation_w)


def _places(
    options: Conv2D | DepthwiseConv2D | Pool2D, size: int, frame: tuple[int, int], reach: int, stride: int
) -> int:
    """Count the places of a window along an axis."""
    if options.frame is None and options.padding is Padding.SAME:
        return -(-size // stride)
    return windows.places_in_frame(size, frame, reach, stride)


def grouped(subject: Subject) -> Iterator[Fault]:
    """The filters of CONV_2D go over all input channels, or share them out in groups."""
    outputs, _, _, taken = subject.shape("filters")
    *_, given = subject.shape("input")
    if given % taken:
        yield Fault("T247", f"its input has {given} channels, but its filters go over {taken}")
    elif outputs % (given // taken):
        yield Fault("T247", f"its {outputs} filters cannot be shared out among {given // taken} groups of channels")


def depthwise(subject: Subject) -> Iterator[Fault]:
    """Each input channel has as many filters as the option says; where it says 0, as many as there are."""
    options = subject.operator.options
    assert isinstance(options, DepthwiseConv2D)
    first, _, _, filters = subject.shape("filters")
    *_, given = subject.shape("input")
    multiplier = options.depth_multiplier or filters // given
    if first != 1 or filters != given * multiplier:
        shape = list(subject.shape("filters"))
        message = f"its filters have the shape {shape}, but {given} input channels with {multiplier} filters each"
        yield Fault("T247", f"{message} take [1, height, width, {given * multiplier}]")


def transposed(subject: Subject) -> Iterator[Fault]:
    """The filters of TRANSPOSE_CONV go from all input channels to all output channels."""
    outputs, _, _, inputs = subject.shape("filters")
    given, made = subject.shape("input")[-1], subject.shape("output")[-1]
    if (inputs, outputs) != (given, made):
        message = f"its filters go from {inputs} to {outputs} channels, but its images from {given} to {made}"
        yield Fault("T247", message)


def biased(channels: str, axis: int = 0) -> Rule:
    """There is one bias for each index of an axis of operand `channels`."""

    def rule(subject: Subject) -> Iterator[Fault]:
        yield from count_fault(subject, "bias", subject.shape(channels)[axis])

    return rule


def connected(subject: Subject) -> Iterator[Fault]:
    """FULLY_CONNECTED takes batches of inputs, and makes as many of outputs."""
    outputs, inputs = subject.shape("weights")
    ((label, source),) = subject.each("input")
    batches, rest = divmod(source.elements, inputs)
    if rest:
        shape = list(source.shape)
        yield Fault("T247", f"{label} has the shape {shape}, but its weights take {inputs} inputs at a time")
    yield from count_fault(subject, "output", batches * outputs)


def remembering(subject: Subject) -> Iterator[Fault]:
    """SVDF: filters over inputs, then over their last results, which are the state."""
    options = subject.operator.options
    assert isinstance(options, Svdf)
    (filters, inputs), (results, memory) = subject.shape("features"), subject.shape("times")
    if filters != results:
        yield Fault("T247", f"it has {filters} filters over inputs, but {results} over results")
    if options.rank < 1 or filters % options.rank:
        yield Fault("T232", f"the option rank is {options.rank}, but must divide the {filters} filters")
    ((label, source),) = subject.each("input")
    batches, rest = divmod(source.elements, inputs)
    if rest:
        shape = list(source.shape)
        yield Fault("T247", f"{label} has the shape {shape}, but its filters take {inputs} inputs at a time")
    yield from count_fault(subject, "state", batches * filters * memory)
    yield from count_fault(subject, "output", batches * filters // options.rank)
    yield from count_fault(subject, "bias", filters // options.rank)
