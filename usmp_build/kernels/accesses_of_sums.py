"""Accesses of sums of products: pixels under a window, all inputs of a batch, an accumulator for each channel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import NamedTuple

from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window
from usmp_build.kernels.weights import BLOCK


class Row(NamedTuple):
    """A row of an image of outputs, and the window that moves along it."""

    pixels: int
    """Of the output."""
    pitch: int
    """Elements from one pixel of the output to the next."""
    window: Window
    """Across the input's row, along the outermost loop of the function, that over the pixels of the output."""


def conv_2d_accesses(row: Row, channels: int, outputs: int, element_size: int, operands: int) -> Accesses:
    """A row of CONV_2D: for every pixel, and block of its output channels, all channels under the window."""
    read = Touch(0, channels, windows=(row.window,))
    parts = _blocks(outputs, (read,), operands - 1, (row.pitch,), BLOCK)
    return Accesses(tuple(parts), _ends(element_size, operands), (row.pixels,))


def grouped_conv_2d_accesses(
    row: Row, groups: int, channels: int, outputs: int, element_size: int, operands: int
) -> Accesses:
    """The same in groups, each of so many channels and outputs: all channels of the group under the window."""
    read = Touch(0, channels, (0, channels), windows=(row.window,))
    parts = _blocks(outputs, (read,), operands - 1, (row.pitch, outputs), BLOCK)
    return Accesses(tuple(parts), _ends(element_size, operands), (row.pixels, groups))


class Transposed(NamedTuple):
    """An axis of a transposed convolution."""

    inputs: int
    outputs: int
    window: int
    stride: int
    before: int
    """Outputs that are cut off before the first one."""

    def reaching(self, loop: int, pitch: int) -> Window:
        """Return the inputs that reach an output, along a loop over outputs."""
        before = self.window - 1 - self.before
        return Window(loop, pitch, self.inputs, self.window, before=before, every=self.stride)


def transpose_conv_accesses(
    images: int,
    axes: tuple[Transposed, Transposed],
    pixels: tuple[int, int],
    channels: tuple[int, int],
    size: int,
    operands: int,
) -> Accesses:
    """TRANSPOSE_CONV: for every pixel, and block of its output channels, all channels of the pixels that reach it.

    `pixels` are elements from one pixel to the next, of input and output; an element has `size` bytes.
    """
    down, across = axes
    row_in, row_out = across.inputs * pixels[0], across.outputs * pixels[1]
    windows = down.reaching(1, row_in), across.reaching(2, pixels[0])
    read = Touch(0, channels[0], (down.inputs * row_in,), windows=windows)
    parts = _blocks(channels[1], (read,), operands - 1, (down.outputs * row_out, row_out, pixels[1]), BLOCK)
    return Accesses(tuple(parts), _ends(size, operands), (images, down.outputs, across.outputs))


def depthwise_accesses(row: Row, channels: int, each: int, element_size: int, operands: int, block: int) -> Accesses:
    """A row of DEPTHWISE_CONV_2D: for every pixel and block of its output channels, the input channels of these.

    A channel of the input has `each` filters; `block` channels are computed at once.
    """
    pitch, last, windows = row.pitch, operands - 1, (row.window,)
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
    return Accesses(tuple(parts), _ends(element_size, operands), (row.pixels,))


def channel_block_accesses(row: Row, channels: int, block: int, operands: int) -> Accesses:
    """A row of DEPTHWISE_CONV_2D with a filter for each channel, `block` channels at a time, the last ones together."""
    parts = []
    for part in _blocks(channels, (), operands - 1, (row.pitch,), block):
        (write,) = part.touches
        read = Touch(0, write.size, (0, block), write.start, (row.window,))
        parts.append(replace(part, touches=(read, write)))
    return Accesses(tuple(parts), _ends(1, operands), (row.pixels,))


def pool_accesses(row: Row, channels: int, element_size: int) -> Accesses:
    """A row of a pooling: for every pixel and channel, that channel under the window."""
    read = Touch(0, 1, (0, 1), windows=(row.window,))
    part = Part((channels,), (read, Touch(1, 1, (row.pitch, 1), writes=True)))
    return Accesses((part,), (element_size, element_size), (row.pixels,))


def fully_connected_accesses(batches: int, inputs: int, outputs: int, element_size: int, operands: int) -> Accesses:
    """FULLY_CONNECTED: for every batch, and block of outputs, all its inputs."""
    read = Touch(0, inputs, (inputs,))
    parts = _blocks(outputs, (read,), operands - 1, (outputs,), BLOCK)
    return Accesses(tuple(parts), _ends(element_size, operands), (batches,))


class Matrices(NamedTuple):
    """Products of matrices, named as in the parameters of the C functions; steps are in elements."""

    batches: tuple[int, ...]
    left_steps: tuple[int, ...]
    right_steps: tuple[int, ...]
    rows: int
    depth: int
    columns: int
    left_row: int
    left_depth: int
    right_depth: int
    right_column: int


def matmul_accesses(matrices: Matrices, size: int) -> Accesses:
    """BATCH_MATMUL: for every row, and block of columns, that row of the left matrix and these columns of the right.

    Elements have `size` bytes.
    """
    (*outer, rows, depth, columns), loops = matrices[:6], len(matrices.batches)
    batches, left_steps, right_steps = outer
    row = Window(loops, 1, rows * depth, depth, dilation=rows)
    by_columns = matrices.left_row == 1 and rows > 1
    left = Touch(0, 1, left_steps, windows=(row,)) if by_columns else Touch(0, depth, (*left_steps, matrices.left_row))
    steps = tuple(prod(batches[axis + 1 :]) * rows * columns for axis in range(loops))
    parts = []
    for part in _blocks(columns, (left,), 2, (*steps, columns), BLOCK):
        lanes, start = part.touches[-1].size, part.touches[-1].start
        if matrices.right_depth == 1:
            right = Touch(1, lanes * depth, (*right_steps, 0, BLOCK * depth), start * depth)
        else:
            window = Window(loops + 1, 1, depth * columns, depth, BLOCK, columns)
            right = Touch(1, lanes, right_steps, start, (window,))
        parts.append(replace(part, touches=(left, right, part.touches[-1])))
    return Accesses(tuple(parts), (size, size, size), (*batches, rows))


def dynamic_accesses(images: int, inputs: int, outputs: int, operands: int) -> Accesses:
    """Images of so many floats that are quantized first: their sums read only what they were quantized to."""
    read = Part((inputs,), (Touch(0, 1, (inputs, 1)),), forward=True)
    written = Part((outputs,), (Touch(operands - 1, 1, (outputs, 1), writes=True),))
    return Accesses((read, written), _ends(4, operands), (images,), phases=True)


def svdf_accesses(batches: int, inputs: int, units: int, element_size: int, operands: int) -> Accesses:
    """SVDF: for every batch, all its inputs, then all its units; nothing ever overlaps the state, a variable."""
    read = Part((1,), (Touch(0, inputs, (inputs, 0)),))
    written = Part((units,), (Touch(operands - 1, 1, (units, 1), writes=True),))
    return Accesses((read, written), _ends(element_size, operands), (batches,))


def lstm_accesses(rows: int, inputs: int, units: int, element_size: int, operands: int) -> Accesses:
    """UNIDIRECTIONAL_SEQUENCE_LSTM: for every row and unit, all inputs; nothing ever overlaps the state."""
    read = Touch(0, inputs, (inputs, 0))
    written = Touch(operands - 1, 1, (units, 1), writes=True)
    return Accesses((Part((rows, units), (read, written)),), _ends(element_size, operands))


class Shares(NamedTuple):
    """How the sums of a pixel share out among its input channels: each of `groups` of `inputs` channels has `sums`."""

    groups: int
    inputs: int
    sums: int


def added_up_accesses(
    row: Row, shares: Shares, element_size: int, operands: int, scratch: int, sum_size: int = 4
) -> Accesses:
    """Rows that are added up in operand `scratch`: sums begin, a row is added to them, they become the output.

    A sum has `sum_size` bytes.
    Images, and the elements of an output, are in reverse order backward; what is added up never is.
    """
    groups, inputs, sums = shares
    count, strides = row.pixels * groups * sums, (groups * sums, sums, 1)
    begin = Part((count,), (Touch(scratch, 1, (1,), writes=True),), forward=True)
    read = Touch(0, inputs, (0, inputs), windows=(row.window,))
    touches = (read, Touch(scratch, 1, strides), Touch(scratch, 1, strides, writes=True))
    added = Part((row.pixels, groups, sums), touches, forward=True)
    finish = Part((count,), (Touch(scratch, 1, (1,)), Touch(operands - 1, 1, (1,), writes=True)))
    widths = [0] * operands
    widths[0], widths[scratch], widths[-1] = element_size, sum_size, element_size
    return Accesses((begin, added, finish), tuple(widths), phases=True)


def _blocks(size: int, reads: tuple[Touch, ...], output: int, strides: tuple[int, ...], block: int) -> Iterator[Part]:
    """Yield the full blocks of an output of `size` elements, then the rest: each reads all of `reads`."""
    full, rest = divmod(size, block)
    for count, lanes, start in ((full, block, 0), (min(rest, 1), rest, full * block)):
        if count:
            yield Part((count,), (*reads, Touch(output, lanes, (*strides, block), start, writes=True)))


def _ends(element_size: int, operands: int) -> tuple[int, ...]:
    """Only the first operand and the last one are in workspace."""
    return (element_size, *(0,) * (operands - 2), element_size)
