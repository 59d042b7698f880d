"""Sums of products: pixels under a window, all inputs of a batch, an accumulator for each channel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window


def convolved(p: Mapping[str, int], width: int, operands: int, block: int) -> Accesses:
    """A row of CONV_2D: for every pixel, and block of its output channels, all channels under the window."""
    channels, outputs = p["input_channels"], p["output_channels"]
    read = Touch(0, channels, windows=(_window(p),))
    parts = _blocks(outputs, block, (read,), operands - 1, (p["output_pitch"],))
    return Accesses(tuple(parts), _ends(width, operands), (p["output_width"],))


def convolved_by_channel(p: Mapping[str, int], width: int, operands: int, block: int) -> Accesses:
    """A row of DEPTHWISE_CONV_2D: for every pixel and block of its output channels, what these come from."""
    channels, each = p["input_channels"], p["depth_multiplier"]
    pitch, last, windows = p["output_pitch"], operands - 1, (_window(p),)
    if each == 1:
        fours, rest = divmod(channels, block)
        parts = [
            Part(
                (count,),
                (
                    Touch(0, lanes, (0, lanes), first, windows),
                    Touch(last, lanes, (pitch, lanes), first, writes=True),
                ),
            )
            for count, lanes, first in ((fours, block, 0), (rest, 1, fours * block))
            if count
        ]
    else:
        lanes = block if each % block == 0 else 1
        read = Touch(0, 1, (0, 1), windows=windows)
        written = Touch(last, lanes, (pitch, each, lanes), writes=True)
        parts = [Part((channels, each // lanes), (read, written))]
    return Accesses(tuple(parts), _ends(width, operands), (p["output_width"],))


def pooled(p: Mapping[str, int], width: int) -> Accesses:
    """A row of a pooling: for every pixel and channel, that channel under the window."""
    channels = p["channels"]
    read = Touch(0, 1, (0, 1), windows=(_window(p),))
    part = Part((channels,), (read, Touch(1, 1, (p["output_pitch"], 1), writes=True)))
    return Accesses((part,), (width, width), (p["output_width"],))


def fully_connected(p: Mapping[str, int], width: int, operands: int, block: int) -> Accesses:
    """For every batch, and block of outputs, all its inputs."""
    read = Touch(0, p["inputs"], (p["inputs"],))
    parts = _blocks(p["outputs"], block, (read,), operands - 1, (p["outputs"],))
    return Accesses(tuple(parts), _ends(width, operands), (p["batches"],))


def remembered(p: Mapping[str, int], width: int, operands: int) -> Accesses:
    """SVDF: for every batch and unit, all its inputs; the state is a variable, over which nothing ever lies."""
    read = Touch(0, p["inputs"], (p["inputs"], 0))
    written = Touch(operands - 1, 1, (p["units"], 1), writes=True)
    return Accesses((Part((p["batches"], p["units"]), (read, written)),), _ends(width, operands))


def averaged(p: Mapping[str, int], width: int) -> Accesses:
    """MEAN of an image: sums begin, every pixel of a row is added to them, they become the output.

    Images, and the elements of an output, are in reverse order backward; what is added up never is.
    """
    channels, across = p["channels"], p["width"]
    begin = Part((channels,), (Touch(1, 1, (1,), writes=True),), forward=True)
    row = Part(
        (across, channels),
        (Touch(0, 1, (channels, 1)), Touch(1, 1, (0, 1)), Touch(1, 1, (0, 1), writes=True)),
        forward=True,
    )
    finish = Part((channels,), (Touch(1, 1, (1,)), Touch(2, 1, (1,), writes=True)))
    return Accesses((begin, row, finish), (width, 4, width), phases=True)


def _window(p: Mapping[str, int]) -> Window:
    """Across the row, for the outermost loop of the function, that over the pixels of the output."""
    return Window(
        loop=0,
        pitch=p["input_pitch"],
        size=p["input_width"],
        taps=p["window_width"],
        step=p["stride"],
        dilation=p.get("dilation", 1),
        before=p["before"],
    )


def _blocks(size: int, block: int, reads: tuple[Touch, ...], output: int, strides: tuple[int, ...]) -> Iterator[Part]:
    """Yield the whole blocks of an output of `size` elements, then what is left: each reads all of `reads`."""
    whole, rest = divmod(size, block)
    for count, lanes, start in ((whole, block, 0), (min(rest, 1), rest, whole * block)):
        if count:
            yield Part((count,), (*reads, Touch(output, lanes, (*strides, block), start, writes=True)))


def _ends(width: int, operands: int) -> tuple[int, ...]:
    """Only the first operand and the last one are in workspace."""
    return (width, *(0,) * (operands - 2), width)
