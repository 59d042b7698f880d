"""Expands access declarations into turns: the lowest and highest byte that each turn touches of each operand.

Only the rounds of long loops that decide distances are expanded (see `corners`).  If even these are too many, inner
loops or blocks of them become one turn each, in which the order of reads and writes is unknown.

The distance from a byte written to a byte read later is a sum of strides, linear in every index, and so is largest at
the first or the last indices.  A window that is clipped at an end of its axis is not linear there: where clipping
begins and ends, all indices count.  Where a window touches only every n-th place, or moves once in n rounds, distances
repeat after n indices but for a linear share: then n indices count at each corner.

    window over 9 pixels, padding 1     0 1 2 . . . 6 7 8
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.frozen import frozen
from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window

_NEAR = 2
"""Number of indices kept on either side of a corner, at least."""


def corners(size: int, windows: Iterable[Window], most: int) -> NDArray[np.int64] | None:
    """Return the indices that decide a loop of `size` rounds, ascending; None if they may be more than `most`.

    `windows` are those that the loop moves.
    """
    moved = tuple(windows)
    period = max((max(window.every, window.repeat) for window in moved), default=1)
    if period > most:
        return np.arange(size, dtype=np.int64) if size <= most else None
    near = _NEAR + period if period > 1 else _NEAR
    ranges = [_around(end, end, size, near) for end in (0, size - 1)]
    for window in moved:
        reach = (window.taps - 1) * window.dilation
        for edge in (0, (window.size - 1) * window.every):
            places = edge + window.before - reach, edge + window.before + 1
            begin, end = (-((window.phase - place * window.repeat) // window.step) for place in places)
            if end - 1 - begin > most:
                return np.arange(size, dtype=np.int64) if size <= most else None
            ranges.append(_around(begin, end - 1, size, near))
    numbers = np.sort(np.concatenate(ranges))
    return numbers[np.diff(numbers, prepend=-1) > 0]  # np.unique would load masked arrays


def _around(first: int, last: int, size: int, near: int) -> NDArray[np.int64]:
    return np.arange(max(0, first - near), min(size, last + near + 1), dtype=np.int64)


MOST_TURNS = 1 << 18
"""Most turns of an operator that are expanded."""

Numbers: TypeAlias = NDArray[np.int64]

NOWHERE = np.int64(1 << 50)
"""Lowest byte of an operand that is not touched, and minus its end: larger than any offset."""


@frozen
class TouchedBytes:
    """For each turn, the lowest byte touched of an operand, and the end of the highest."""

    low: Numbers
    end: Numbers

    def joined(self, other: TouchedBytes) -> TouchedBytes:
        """Return the union of two extents in the same turns."""
        return TouchedBytes(np.minimum(self.low, other.low), np.maximum(self.end, other.end))


@frozen
class Turns:
    """The bytes touched in the decisive turns of a call, in the order in which they run."""

    count: int
    in_order: bool
    """Whether all reads of a turn come before its writes."""
    extents: dict[tuple[int, bool], TouchedBytes] = field(default_factory=dict)
    """By operand, and whether it is written; operands that are not touched are missing."""

    def extent(self, operand: int, writes: bool) -> TouchedBytes:
        """Return the bytes that the turns read or write of an operand."""
        return self.extents.get((operand, writes)) or untouched(self.count)


def untouched(count: int) -> TouchedBytes:
    """Return the extent of an operand that none of `count` turns touches."""
    return TouchedBytes(np.full(count, NOWHERE), np.full(count, -NOWHERE))


def turns(accesses: Accesses, most: int = MOST_TURNS) -> Turns:
    """Return the decisive turns of a call; at most `most`, but at least one for each part."""
    around = _corners(accesses.loops, 0, accesses.parts, most)
    inside = [_corners(part.loops, len(accesses.loops), (part,), most) for part in accesses.parts]
    expanded = [blocks for blocks in inside if blocks is not None]
    if around is not None and len(expanded) == len(inside) and around.count * sum(b.count for b in expanded) <= most:
        return _joined(accesses, around, expanded, in_order=True)
    outer = prod(accesses.loops)
    if outer * len(accesses.parts) > most:
        return _outer_blocks(accesses, most)
    share = most // max(1, outer * len(accesses.parts))
    rough = [_blocks(part.loops, share) for part in accesses.parts]
    return _joined(accesses, _blocks(accesses.loops, outer), rough, in_order=False)


def _joined(accesses: Accesses, around: _Blocks, inside: list[_Blocks], in_order: bool) -> Turns:
    """Run the turns of all parts, one part after another, in each round of the common loops."""
    parts = [(part, *_part(part, around, blocks)) for part, blocks in zip(accesses.parts, inside, strict=True)]
    if accesses.backward and not accesses.phases:
        parts.reverse()
    in_round = sum(count for _, count, _ in parts)
    begin, rows = 0, dict[tuple[int, bool], list[_Row]]()
    for part, count, extents_of_part in parts:
        for key, extent in extents_of_part.items():
            rows.setdefault(key, []).append(_Row(extent, begin, count, accesses.backward and not part.forward))
        begin += count
    extents = {
        key: _in_bytes(_side_by_side(part_rows, (around.count, in_round), accesses.backward), accesses.widths[key[0]])
        for key, part_rows in rows.items()
    }
    return Turns(around.count * in_round, in_order, extents)


def _corners(loops: tuple[int, ...], first: int, parts: tuple[Part, ...], most: int) -> _Blocks | None:
    """Return the decisive turns of a loop nest, one by one; None if they are too many.

    Touches of `parts` count its outermost loop as number `first`.
    """
    windows = [window for part in parts for touch in part.touches for window in touch.windows]
    indices: list[Numbers] = []
    count = 1
    for number, size in enumerate(loops, first):
        decisive = corners(size, (window for window in windows if window.loop == number), most)
        if decisive is None or count * decisive.size > most:
            return None
        indices.append(decisive)
        count *= decisive.size
    grid = tuple(index.ravel() for index in np.meshgrid(*indices, indexing="ij")) if indices else ()
    return _Blocks(count, grid, grid)


def _outer_blocks(accesses: Accesses, most: int) -> Turns:
    """Take blocks of the common loops as turns: each touches everything that the parts touch in it."""
    around = _blocks(accesses.loops, most)
    extents: dict[tuple[int, bool], TouchedBytes] = {}
    for part in accesses.parts:
        for key, extent in _part(part, around, _blocks(part.loops, 1))[1].items():
            extents[key] = extents[key].joined(extent) if key in extents else extent
    for key, extent in extents.items():
        one = _side_by_side([_Row(extent, 0, 1, accesses.backward)], (around.count, 1), accesses.backward)
        extents[key] = _in_bytes(one, accesses.widths[key[0]])
    return Turns(around.count, False, extents)


@frozen
class _Row:
    """The bytes that one part touches of an operand."""

    extent: TouchedBytes
    begin: int
    """Number of turns that other parts take before it in each round of the common loops."""
    count: int
    """Number of its turns in each round of the common loops."""
    is_backward: bool
    """Whether it runs backward in each round."""


def _side_by_side(rows: list[_Row], shape: tuple[int, int], backward: bool) -> TouchedBytes:
    """Put the turns of parts into the order in which they run; parts without a row touch nothing.

    `shape` is (number of rounds, turns in each round); `backward` is the direction of rounds.
    """
    low, end = np.full(shape, NOWHERE), np.full(shape, -NOWHERE)
    for row in rows:
        for grid, side in ((low, row.extent.low), (end, row.extent.end)):
            rounds = side.reshape(shape[0], row.count)[:: -1 if backward else 1, :: -1 if row.is_backward else 1]
            grid[:, row.begin : row.begin + row.count] = rounds
    return TouchedBytes(low.ravel(), end.ravel())


def _in_bytes(extent: TouchedBytes, width: int) -> TouchedBytes:
    low, end = (np.where(np.abs(side) >= NOWHERE, side, side * width) for side in (extent.low, extent.end))
    return TouchedBytes(low, end)


@frozen
class _Blocks:
    """For each loop of a nest, the first and the last index in every block of turns."""

    count: int
    first: tuple[Numbers, ...]
    last: tuple[Numbers, ...]


def _blocks(loops: tuple[int, ...], most: int) -> _Blocks:
    """Cut a loop nest into at most `most` blocks of consecutive turns."""
    first: list[Numbers] = []
    last: list[Numbers] = []
    count, remaining = 1, max(1, most)
    for size in loops:
        length = -(-size // remaining)  # of a block in this loop: 1 as long as all indices fit
        blocks = -(-size // length) if length else 0
        start = np.arange(blocks, dtype=np.int64) * length
        first = [np.repeat(index, blocks) for index in first]
        last = [np.repeat(index, blocks) for index in last]
        first.append(np.tile(start, count))
        last.append(np.tile(np.minimum(start + length, size) - 1, count))
        count *= blocks
        remaining = remaining // blocks if length == 1 else 1
    return _Blocks(count, tuple(first), tuple(last))


def _part(part: Part, around: _Blocks, inside: _Blocks) -> tuple[int, dict[tuple[int, bool], TouchedBytes]]:
    """Return the number of turns of a part in each round of the common loops, and the bytes each turn touches."""
    first = [np.repeat(index, inside.count) for index in around.first]
    last = [np.repeat(index, inside.count) for index in around.last]
    first += [np.tile(index, around.count) for index in inside.first]
    last += [np.tile(index, around.count) for index in inside.last]
    extents: dict[tuple[int, bool], TouchedBytes] = {}
    for touch in part.touches:
        key = touch.operand, touch.writes
        extent = _extent(touch, around.count * inside.count, first, last)
        extents[key] = extents[key].joined(extent) if key in extents else extent
    return inside.count, extents


def _extent(touch: Touch, count: int, first: list[Numbers], last: list[Numbers]) -> TouchedBytes:
    """Add up strides and windows: return the lowest and highest elements that the turns of each block touch."""
    low = np.full(count, touch.start, dtype=np.int64)
    high = low.copy()
    inside = np.full(count, touch.size > 0)
    for stride, one, other in zip(touch.strides, first, last, strict=False):
        if stride:
            low += np.minimum(stride * one, stride * other)
            high += np.maximum(stride * one, stride * other)
    for window in touch.windows:
        lowest, highest = _places(window, first[window.loop], last[window.loop])
        low += lowest * window.pitch
        high += highest * window.pitch
        inside &= lowest <= highest
    return TouchedBytes(np.where(inside, low, NOWHERE), np.where(inside, high + touch.size, -NOWHERE))


def _places(window: Window, first: Numbers, last: Numbers) -> tuple[Numbers, Numbers]:
    """Return the lowest and highest index of a window inside its axis; where it is all outside, lowest > highest."""
    begin, end = ((rounds * window.step + window.phase) // window.repeat - window.before for rounds in (first, last))
    if window.every > 1:
        lowest, highest = -(-begin // window.every), (end + window.taps - 1) // window.every
        return np.maximum(lowest, 0), np.minimum(highest, window.size - 1)
    tap = np.maximum(0, -(begin // window.dilation))  # the first tap that is not before the axis
    lowest = begin + tap * window.dilation
    tap = np.minimum(window.taps - 1, (window.size - 1 - end) // window.dilation)
    highest = end + tap * window.dilation
    if np.array_equal(first, last):
        return lowest, highest
    return np.maximum(begin, 0), np.minimum(end + (window.taps - 1) * window.dilation, window.size - 1)
