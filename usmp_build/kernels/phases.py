"""TRANSPOSE_CONV by phases: outputs whose positions leave the same rest when divided by the stride use the same taps.

    stride 2, window 3, before 0      outputs 0 2 4: taps 0 and 2     outputs 1 3 5: tap 1

So each phase is a convolution with fewer taps.  Their weights lie side by side, phase after phase: those of the first
rows and columns of the window first, each tap with all of its channels.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from operator import mul

import numpy as np
from numpy.typing import NDArray

from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import Input, Kernel
from usmp_build.kernels.candidates import Declined
from usmp_build.kernels.node import Node
from usmp_build.kernels.weights import blocks
from usmp_build.kernels.window import Images, Slide

_IMAGE = Input(2)
"""Of the operator."""


@frozen
class Phases:
    """A TRANSPOSE_CONV as an operator whose inputs are those of a CONV_2D: image, weights, biases."""

    node: Node
    images: Images
    """Of the first input."""
    read: int
    """Elements of the image that all blocks of four outputs read."""

    @property
    def channels(self) -> int:
        """Of the image."""
        return self.node.input(0).shape[3]

    @property
    def outputs(self) -> int:
        """Channels of the output."""
        return self.node.output.shape[3]

    def weights(self) -> list[NDArray[np.int64]]:
        """Return those of each phase, of shape (outputs, taps, channels)."""
        (height, down), (width, across) = self._axes()
        weights = self.node.array(1, "weights").reshape(self.outputs, height, width, self.channels).astype(np.int64)
        return [
            weights[:, row::down, column::across].reshape(self.outputs, -1, self.channels)
            for row, column in product(range(down), range(across))
        ]

    @property
    def taps(self) -> int:
        """How many taps there are for all pixels of the output together, those outside of the image included."""
        down, across = map(_taps_along, (self.images.down, self.images.across))
        return self.images.count * down * across

    @property
    def outside(self) -> int:
        """How many of them are outside of the image."""
        return self.taps - self.read // (self.channels * blocks(self.outputs))

    def most_taps(self) -> int:
        """Return the taps of the largest phase.  Raises Declined where outputs are reached by no pixel."""
        (height, down), (width, across) = self._axes()
        if down > height or across > width:
            raise Declined("its stride is longer than its window")
        return -(-height // down) * -(-width // across)

    def _axes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        down, across = self.images.down, self.images.across
        return (down.window, down.stride), (across.window, across.stride)


def _taps_along(axis: Slide) -> int:
    """Return the sum of the taps of all positions along an axis; those of a phase have equally many."""
    phases = range(axis.stride)
    taps = (len(range(phase, axis.window, axis.stride)) for phase in phases)
    positions = (len(range((phase - axis.before) % axis.stride, axis.output, axis.stride)) for phase in phases)
    return sum(map(mul, taps, positions))


def phases_of(node: Node, images: Images, read: int) -> Phases:
    """Return the phases of a TRANSPOSE_CONV; `images` are those of its image, input 2."""
    _, weights, image, *biases = node.operator.inputs
    inputs = (image, weights, *biases[:1])
    as_convolution = replace(node, operator=replace(node.operator, inputs=inputs))
    return Phases(as_convolution, replace(images, input=Input(0)), read)


def of_transposed(kernel: Kernel) -> Kernel:
    """Return the kernel whose image is where a TRANSPOSE_CONV has it."""
    (call,) = kernel.calls
    operands = tuple(_IMAGE if each == Input(0) else each for each in call.operands)
    return replace(kernel, calls=(replace(call, operands=operands),))
