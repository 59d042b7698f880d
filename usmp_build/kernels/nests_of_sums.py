"""Nests of sums of products: pixels under a window, all inputs of a batch, an accumulator for each channel.

Weights, biases and requantization factors overlap nothing; their spans are the last argument.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from usmp_build.interfaces.kernels import Input, Output, Scratch
from usmp_build.kernels.nest import Blocks, InTurn, Nest, Span, aside, reads, writes
from usmp_build.kernels.weights import BLOCK
from usmp_build.kernels.window import Images, Under


def conv_2d(images: Images, channels: int, outputs: int, *others: Span) -> Nest:
    """CONV_2D: for every pixel, and block of its output channels, all channels under the window."""
    read, written = reads(images.input, channels, images.under), writes(Output(0), 1, images.places | {"outputs": 1})
    return Nest({**images.axes, "outputs": Blocks(outputs, BLOCK)}, (read, *others, written))


def grouped_conv_2d(images: Images, groups: int, channels: int, outputs: int, *others: Span) -> Nest:
    """The same in groups, each of so many channels and outputs: all channels of the group under the window."""
    read = reads(images.input, channels, images.under | {"groups": channels})
    written = writes(Output(0), 1, images.places | {"groups": outputs, "outputs": 1})
    return Nest({**images.axes, "groups": groups, "outputs": Blocks(outputs, BLOCK)}, (read, *others, written))


def filters(images: Images, channels: int) -> Span:
    """The weights of a block of outputs, for every pixel under the window: as many for the last block as for others."""
    return aside(Input(1), channels, images.weighed | {"outputs": channels}, fills=True)


def depthwise_conv_2d(images: Images, channels: int, each: int, block: int, *others: Span) -> Nest:
    """DEPTHWISE_CONV_2D: for every pixel and block of its output channels, the input channels of these.

    A channel of the input has `each` filters; `block` channels are computed at once.
    """
    if each == 1:
        return by_channels(images, Blocks(channels, block, singly=True), *others)
    lanes = Blocks(each, block if each % block == 0 else 1)
    read = reads(images.input, 1, images.under | {"channels": 1})
    written = writes(Output(0), 1, images.places | {"channels": each, "filters": 1})
    return Nest({**images.axes, "channels": channels, "filters": lanes}, (read, *others, written))


def channel_filters(images: Images) -> Span:
    """The weights of a block of outputs of DEPTHWISE_CONV_2D, for every pixel under the window."""
    return aside(Input(1), 1, images.weighed | {"channels": 1, "filters": 1})


def by_channels(images: Images, channels: int | Blocks, *others: Span) -> Nest:
    """For every pixel and channel, or block of channels, that channel under the window."""
    read = reads(images.input, 1, images.under | {"channels": 1})
    return Nest(
        {**images.axes, "channels": channels}, (read, *others, writes(Output(0), 1, images.places | {"channels": 1}))
    )


def dynamic(nest: Nest, inputs: int, outputs: int, *others: Span) -> InTurn:
    """The sums of a nest over images of so many floats: these are quantized first, in scratch, where sums read them."""
    (name, images), (read, *weights, _) = next(iter(nest.axes.items())), nest.spans
    kept = replace(writes(Scratch(0)), is_aside=True)
    quantized = Nest({name: images, "inputs": inputs}, (reads(read.operand), kept), forward=True)
    sums = replace(nest, spans=(replace(read, operand=Scratch(0), is_aside=True), *weights, *others))
    written = Nest({name: images, "outputs": outputs}, (writes(Output(0)),))
    return InTurn((quantized, sums, written), shared=1, phases=True)


class Shares(NamedTuple):
    """How the sums of a pixel share out among its input channels: each of `groups` of `inputs` channels has `sums`."""

    groups: int
    inputs: int = 1
    sums: int = 1


def added_up(pixels: int, under: Under, shares: Shares) -> InTurn:
    """Rows of so many pixels of the output that are added up: sums begin, a row is added, they become the output.

    A backward kernel reverses images and the elements of an output, but never the order in which it adds up.
    """
    groups, inputs, sums = shares
    axes, all_sums = {"pixels": pixels, "groups": groups, "sums": sums}, {"sums": pixels * groups * sums}
    read = reads(Input(0), inputs, {"pixels": under, "groups": inputs})
    begin = Nest(all_sums, (writes(Scratch(0)),), forward=True)
    added = Nest(axes, (read, reads(Scratch(0)), writes(Scratch(0))), forward=True)
    finish = Nest(all_sums, (reads(Scratch(0)), writes(Output(0))))
    return InTurn((begin, added, finish), phases=True)
