"""Elements in other places: blocks of pixels, batches, axes turned round or repeated, mirrored borders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod
from typing import NamedTuple

from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, Output, Traffic
from usmp_build.kernels.nest import Along, InTurn, Moved, Nest, aside, call_in_bytes, kernel, reads, rows_of, writes
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.portable.copies import check_types
from usmp_build.kernels.portable.moves import Axis, Move, byte_steps, moves
from usmp_build.kernels.portable.transposition import RowAxis, row_by_row
from usmp_build.kernels.window import Slide
from usmp_build.operators.rearranging import Blocks, Mirror, MirrorPad

_MOST_MOVES = 256
"""Calls of one operator."""


def space_to_depth(node: Node) -> Kernel:
    """SPACE_TO_DEPTH, by rows: the pixels of a block side by side are the channels of one pixel."""
    source, block = node.streamed(), _block(node, node.input(0).shape, node.output.shape)
    (images, height, width, channels), (_, *small, _) = source.shape, node.output.shape
    line = block * channels
    axes = [RowAxis(small[1], 0, line), RowAxis(block, 1, 0), RowAxis(line, 0, 1)]
    return row_by_row(node, images, Slide(height, small[0], block, block), width * channels, axes)


def depth_to_space(node: Node) -> Kernel:
    """DEPTH_TO_SPACE: the channels of a pixel are the pixels of a block.

    A row reads only some of the pixels that its turns state: which ones depends on its number.
    """
    source, block = node.input(0), _block(node, node.output.shape, node.input(0).shape)
    images, height, width, channels = source.shape
    line, row, size = channels // block, width * channels, source.dtype.bits // 8
    down = Slide(height, height * block, repeat=block)
    along: Along = {"images": height * row, "rows": down.under(row), "pixels": channels}
    axes = {"images": images, "rows": down.output, "pixels": width}
    nest = Nest(axes, (reads(Input(0), channels, along), writes(Output(0), line)))
    by_rows = kernel(
        node,
        "depth_to_space_row",
        nest,
        (("width", width), ("block", block), ("line", line * size)),
        form=rows_of(nest, untyped=True, numbered=True),
        moved={Input(0): Traffic(source.size)},
    )
    rows = Axis(images * height, row * size, row * size), Axis(block, line * size, width * line * size)
    whole = moves([Move(line * size, (*rows, Axis(width, channels * size, line * size)))])
    has_rows = images == 1 and down.output > 1 and not source.is_constant
    return replace(whole, by_rows=by_rows) if has_rows else whole


def _block(node: Node, space: tuple[int, ...], depth: tuple[int, ...]) -> int:
    """Return the rows and columns of a block of an image whose pixels are the channels of one of another image."""
    block = node.options(Blocks).block_size
    check_types(node.input(0), node.output)
    node.expect(len(space) == len(depth) == 4 and block > 0, "does not make an image of blocks of an image")
    images, height, width, channels = depth
    expected = (images, height * block, width * block, channels // (block * block))
    node.expect(channels % block**2 == 0 and space == expected, f"makes {list(depth)} of {list(space)}")
    return block


def reverse(node: Node) -> Kernel:
    """REVERSE_V2: some axes from their last index to the first."""
    source, output = node.input(0), node.output
    check_types(source, output)
    shape, axes, width = source.shape, node.integers(1, "axes"), source.dtype.bits // 8
    node.expect(all(-len(shape) <= axis < len(shape) for axis in axes), "turns axes round that its input lacks")
    node.expect(shape == output.shape, "has an output of another shape than its input")
    turned = {axis % len(shape) for axis in axes}
    steps = byte_steps(shape, width)
    along = (
        Axis(size, -step if axis in turned else step, step)
        for axis, (size, step) in enumerate(zip(shape, steps, strict=True))
    )
    return moves([Move(width, tuple(along), source=sum((shape[axis] - 1) * steps[axis] for axis in turned))])


def broadcast_to(node: Node) -> Kernel:
    """BROADCAST_TO: axes of one index are repeated, and others come in front."""
    source, output = node.input(0), node.output
    check_types(source, output)
    shape = (1,) * (len(output.shape) - len(source.shape)) + source.shape
    fits = len(shape) == len(output.shape) and all(
        size in (1, whole) for size, whole in zip(shape, output.shape, strict=True)
    )
    node.expect(fits, f"cannot stretch {list(source.shape)} to {list(output.shape)}")
    width = source.dtype.bits // 8
    steps = zip(byte_steps(shape, width), byte_steps(output.shape, width), strict=True)
    axes = (
        Axis(whole, step if size > 1 else 0, target)
        for size, whole, (step, target) in zip(shape, output.shape, steps, strict=True)
    )
    return moves([Move(width, tuple(axes))])


def tile(node: Node) -> Kernel:
    """TILE: all of an axis several times."""
    source, output, times = node.input(0), node.output, node.integers(1, "numbers of repeats")
    check_types(source, output)
    expected = tuple(size * repeats for size, repeats in zip(source.shape, times, strict=False))
    node.expect(len(times) == len(source.shape), "does not say how often each axis is repeated")
    node.expect(expected == output.shape, f"makes a tensor of shape {list(expected)}, not {list(output.shape)}")
    width = source.dtype.bits // 8
    axes: list[Axis] = []
    steps = zip(byte_steps(source.shape, width), byte_steps(output.shape, width), strict=True)
    for size, repeats, (step, target) in zip(source.shape, times, steps, strict=True):
        axes += [Axis(repeats, 0, size * target), Axis(size, step, target)]
    return moves([Move(width, tuple(axes))])


def mirror_pad(node: Node) -> Kernel:
    """MIRROR_PAD: a move for each side, edge and corner, and one for what is inside."""
    source, output, paddings = node.input(0), node.output, node.integers(1, "paddings")
    check_types(source, output)
    shape, skipped = source.shape, 1 if node.options(MirrorPad).mode is Mirror.REFLECT else 0
    node.expect(len(paddings) == 2 * len(shape), "does not have two paddings for each dimension")
    pairs = [*zip(paddings[::2], paddings[1::2], strict=True)]
    for (before, after), size, whole in zip(pairs, shape, output.shape, strict=True):
        node.expect(whole == before + size + after, "makes another shape than its output has")
        node.expect(0 <= min(before, after) <= max(before, after) <= size - skipped, "mirrors more than there is")
    width = source.dtype.bits // 8
    steps = zip(byte_steps(shape, width), byte_steps(output.shape, width), strict=True)
    sections = [
        [*_mirrored(before, size, after, skipped, *step)]
        for (before, after), size, step in zip(pairs, shape, steps, strict=True)
    ]
    if prod(map(len, sections)) > _MOST_MOVES:
        raise Unsupported(f"it mirrors in more than {_MOST_MOVES} places")
    return moves(
        Move(
            width,
            tuple(section.axis for section in along),
            sum(section.source for section in along),
            sum(section.target for section in along),
        )
        for along in product(*sections)
    )


class _Section(NamedTuple):
    """Indices of an axis that move together; places are in bytes."""

    axis: Axis
    source: int
    target: int


def _mirrored(before: int, size: int, after: int, skipped: int, step: int, target: int) -> Iterator[_Section]:
    """Yield what becomes of an axis: the border before it, all of it, the border after it."""
    if before:
        yield _Section(Axis(before, -step, target), (before + skipped - 1) * step, 0)
    yield _Section(Axis(size, step, target), 0, before * target)
    if after:
        yield _Section(Axis(after, -step, target), (size - 1 - skipped) * step, (before + size) * target)


class _Batches(NamedTuple):
    """An image of two dimensions, and the images of its blocks' pixels; one of one dimension is one pixel wide."""

    images: int
    size: tuple[int, int]
    """Of the image, without its border."""
    block: tuple[int, int]
    before: tuple[int, int]
    """The border above and on the left."""
    small: tuple[int, int]
    """Size of an image of pixels that have the same place in their blocks."""
    pixel: int
    """Bytes."""

    @property
    def is_whole(self) -> bool:
        """Whether there is no border."""
        return self.size == (self.small[0] * self.block[0], self.small[1] * self.block[1])

    def inside(self, axis: int, place: int) -> range:
        """Return which pixels of a small image are in the image and not in its border, along an axis."""
        first, block = self.before[axis] - place, self.block[axis]
        return range(max(0, -(-first // block)), min(self.small[axis], -(-(first + self.size[axis]) // block)))

    def move(self, *, from_space: bool) -> Move:
        """Return the move of everything, where there is no border."""
        (down, right), (height, width) = self.block, self.small
        line, image = self.size[1] * self.pixel, prod(self.size) * self.pixel
        small_line, small = width * self.pixel, height * width * self.pixel
        space = {"n": image, "y": down * line, "x": right * self.pixel, "down": line, "right": self.pixel}
        batches = {"n": small, "y": small_line, "x": self.pixel, "down": right * self.images * small}
        batches |= {"right": self.images * small}
        extents = {"n": self.images, "y": height, "x": width, "down": down, "right": right}
        order = ("down", "right", "n", "y", "x") if from_space else ("n", "y", "down", "x", "right")
        first, second = (space, batches) if from_space else (batches, space)
        return Move(self.pixel, tuple(Axis(extents[name], first[name], second[name]) for name in order))


def batch_to_space(node: Node) -> Kernel:
    """BATCH_TO_SPACE_ND: where it cuts a border off, a move for each place in a block."""
    batches = _batches(node, node.output.shape, node.input(0).shape)
    if batches.is_whole:
        return moves([batches.move(from_space=False)])
    if prod(batches.block) > _MOST_MOVES:
        raise Unsupported(f"it cuts borders off, and has blocks of more than {_MOST_MOVES} pixels")
    return moves(_cropped(batches))


def _cropped(batches: _Batches) -> Iterator[Move]:
    line, pixel, (height, width) = batches.size[1] * batches.pixel, batches.pixel, batches.small
    small = height * width * pixel
    for number, (down, right) in enumerate(product(*map(range, batches.block))):
        rows, columns = batches.inside(0, down), batches.inside(1, right)
        if not rows or not columns:
            continue
        top = rows.start * batches.block[0] + down - batches.before[0]
        left = columns.start * batches.block[1] + right - batches.before[1]
        axes = (
            Axis(batches.images, small, batches.size[0] * line),
            Axis(len(rows), width * pixel, batches.block[0] * line),
            Axis(len(columns), pixel, batches.block[1] * pixel),
        )
        source = number * batches.images * small + (rows.start * width + columns.start) * pixel
        yield Move(pixel, axes, source, top * line + left * pixel)


def space_to_batch(node: Node) -> Kernel:
    """SPACE_TO_BATCH_ND: a border is filled with 0, whatever the zero point is.

    TensorFlow Lite Micro never sets the number that it fills with: it is what the arena had there, at first 0.
    """
    batches = _batches(node, node.input(0).shape, node.output.shape)
    if batches.is_whole:
        return moves([batches.move(from_space=True)])
    width = node.output.dtype.bits // 8
    names = ("input_height", "input_width", "block_height", "block_width", "above", "left", "height", "width")
    numbers = (*batches.size, *batches.block, *batches.before, *batches.small)
    fields = (
        ("images", batches.images),
        *zip(names, numbers, strict=True),
        ("channels", batches.pixel // width),
        ("size", width),
    )
    filled = node.output.size - node.input(0).size
    moved: Moved = {Derived(0): Traffic(filled // batches.pixel if width == 1 else filled)}
    call = call_in_bytes("space_to_batch", InTurn(tuple(_places(batches))), fields, moved)
    return Kernel((call,), (Constant("zero", node.output.dtype, bytes(width)),))


def _places(batches: _Batches) -> Iterator[Nest]:
    """Yield the nest of each place in a block."""
    pixel, line, (height, width) = batches.pixel, batches.size[1] * batches.pixel, batches.small
    small = height * width * pixel
    axes = {"images": batches.images, "rows": height, "pixels": width}
    for number, place in enumerate(product(*map(range, batches.block))):
        down, across = (
            Slide(size, stride=block, before=before - first)
            for size, block, before, first in zip(batches.size, batches.block, batches.before, place, strict=True)
        )
        along: Along = {"images": batches.size[0] * line, "rows": down.under(line), "pixels": across.under(pixel)}
        spans = (
            reads(Input(0), pixel, along),
            aside(Derived(0)),
            writes(Output(0), pixel, start=number * batches.images * small),
        )
        yield Nest(axes, spans)


def _batches(node: Node, space: tuple[int, ...], batches: tuple[int, ...]) -> _Batches:
    """Read sizes; `space` is the shape of the image, `batches` that of the images of its blocks' pixels."""
    check_types(node.input(0), node.output)
    blocks, borders = node.integers(1, "blocks"), node.integers(2, "borders")
    count = len(blocks)
    if not 1 <= count <= 2 or len(space) <= count:
        raise Unsupported(f"it has blocks of {count} dimensions of images of {len(space) - 1}")
    node.expect(len(borders) == 2 * count and min(blocks) > 0, "does not have a border for each axis of its blocks")
    small = [batches[1 + axis] for axis in range(count)]
    size = [space[1 + axis] for axis in range(count)]
    around = [sum(borders[2 * axis : 2 * axis + 2]) for axis in range(count)]
    fits = all(s * b == whole + border for s, b, whole, border in zip(small, blocks, size, around, strict=True))
    fits &= batches[0] == space[0] * prod(blocks) and batches[1 + count :] == space[1 + count :] and min(borders) >= 0
    node.expect(fits, f"makes {list(batches)} and {list(space)} of each other")
    pixel = prod(space[1 + count :]) * node.output.dtype.bits // 8
    across = [(size[1], small[1], blocks[1], borders[2])] if count == 2 else [(1, 1, 1, 0)]
    sizes, smalls, block, before = zip((size[0], small[0], blocks[0], borders[0]), *across, strict=True)
    return _Batches(space[0], sizes, block, before, smalls, pixel)
