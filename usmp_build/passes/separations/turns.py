"""Accesses → which bytes each turn touches at the lowest and at the highest.

Of long loops only some rounds count (see `corners`).  Where even these are very many, inner loops, or blocks of them,
become one turn, in which nothing is known of the order of reads and writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window
from usmp_build.passes.separations.corners import corners

MOST_TURNS = 1 << 18
"""Of an operator."""

Numbers: TypeAlias = NDArray[np.int64]

NOWHERE = np.int64(1 << 50)
"""The lowest byte, or less the end, of what is not touched: larger than any offset."""


@dataclass(frozen=True, slots=True)
class Extent:
    """For every turn, the lowest byte touched of an operand, and the end of the highest."""

    low: Numbers
    end: Numbers

    def joined(self, other: Extent) -> Extent:
        """Both in the same turns."""
        return Extent(np.minimum(self.low, other.low), np.maximum(self.end, other.end))


@dataclass(frozen=True)
class Turns:
    """What the turns of a call that count touch, in the order in which they run."""

    count: int
    in_order: bool
    """Whether a turn reads all before it writes anything."""
    extents: dict[tuple[int, bool], Extent] = field(default_factory=dict)
    """By operand, and whether it is written; operands that are not touched are not there."""

    def extent(self, operand: int, writes: bool) -> Extent:
        """Return what the turns read or write of an operand."""
        return self.extents.get((operand, writes)) or untouched(self.count)


def untouched(count: int) -> Extent:
    """Return the extent of what none of `count` turns touches."""
    return Extent(np.full(count, NOWHERE), np.full(count, -NOWHERE))


def turns(accesses: Accesses, most: int = MOST_TURNS) -> Turns:
    """Find out what each turn touches that matters; at most `most` turns, and one for each part."""
    around = _corners(accesses.loops, 0, accesses.parts, most)
    inside = [_corners(part.loops, len(accesses.loops), (part,), most) for part in accesses.parts]
    known = [blocks for blocks in inside if blocks is not None]
    if around is not None and len(known) == len(inside) and around.count * sum(b.count for b in known) <= most:
        return _joined(accesses, around, known, in_order=True)
    outer = prod(accesses.loops)
    if outer * len(accesses.parts) > most:
        return _outer_blocks(accesses, most)
    share = most // max(1, outer * len(accesses.parts))
    rough = [_blocks(part.loops, share) for part in accesses.parts]
    return _joined(accesses, _blocks(accesses.loops, outer), rough, in_order=False)


def _joined(accesses: Accesses, around: _Blocks, inside: list[_Blocks], in_order: bool) -> Turns:
    """In each of the common loops' turns those of one part after the other."""
    found = [(part, *_part(part, around, own)) for part, own in zip(accesses.parts, inside, strict=True)]
    if accesses.backward and not accesses.phases:
        found.reverse()
    in_round = sum(count for _, count, _ in found)
    begin, rows = 0, dict[tuple[int, bool], list[_Row]]()
    for part, count, own in found:
        for key, extent in own.items():
            rows.setdefault(key, []).append(_Row(extent, begin, count, accesses.backward and not part.forward))
        begin += count
    extents = {
        key: _in_bytes(_side_by_side(some, (around.count, in_round), accesses.backward), accesses.widths[key[0]])
        for key, some in rows.items()
    }
    return Turns(around.count * in_round, in_order, extents)


def _corners(loops: tuple[int, ...], first: int, parts: tuple[Part, ...], most: int) -> _Blocks | None:
    """Return the turns of a nest that matter, each by itself; None where they are too many.

    Its outermost loop is number `first` of the touches of `parts`.
    """
    windows = [window for part in parts for touch in part.touches for window in touch.windows]
    indices: list[Numbers] = []
    count = 1
    for number, size in enumerate(loops, first):
        own = corners(size, (window for window in windows if window.loop == number), most)
        if own is None or count * own.size > most:
            return None
        indices.append(own)
        count *= own.size
    grid = tuple(index.reshape(-1) for index in np.meshgrid(*indices, indexing="ij")) if indices else ()
    return _Blocks(count, grid, grid)


def _outer_blocks(accesses: Accesses, most: int) -> Turns:
    """Whole blocks of the common loops are a turn, with all that the parts touch in them."""
    around = _blocks(accesses.loops, most)
    extents: dict[tuple[int, bool], Extent] = {}
    for part in accesses.parts:
        for key, extent in _part(part, around, _blocks(part.loops, 1))[1].items():
            extents[key] = extents[key].joined(extent) if key in extents else extent
    for key, extent in extents.items():
        one = _side_by_side([_Row(extent, 0, 1, False)], (around.count, 1), accesses.backward)
        extents[key] = _in_bytes(one, accesses.widths[key[0]])
    return Turns(around.count, False, extents)


@dataclass(frozen=True, slots=True)
class _Row:
    """What one part touches of an operand."""

    extent: Extent
    begin: int
    """Turns of other parts before it, in each round of the common loops."""
    count: int
    """Its own turns there."""
    turned: bool
    """Whether it runs backward there."""


def _side_by_side(rows: list[_Row], shape: tuple[int, int], backward: bool) -> Extent:
    """Put the turns of parts into the order in which they run; other parts touch nothing.

    `shape` is how many rounds there are, and how many turns are in each; `backward` is the direction of rounds.
    """
    low, end = np.full(shape, NOWHERE), np.full(shape, -NOWHERE)
    for row in rows:
        for whole, side in ((low, row.extent.low), (end, row.extent.end)):
            rounds = side.reshape(shape[0], row.count)[:: -1 if backward else 1, :: -1 if row.turned else 1]
            whole[:, row.begin : row.begin + row.count] = rounds
    return Extent(low.reshape(-1), end.reshape(-1))


def _in_bytes(extent: Extent, width: int) -> Extent:
    low, end = (np.where(np.abs(side) >= NOWHERE, side, side * width) for side in (extent.low, extent.end))
    return Extent(low, end)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """For each loop of a nest, the first and the last index in every block of its turns."""

    count: int
    first: tuple[Numbers, ...]
    last: tuple[Numbers, ...]


def _blocks(loops: tuple[int, ...], most: int) -> _Blocks:
    """Cut a nest into at most `most` blocks of turns that follow one another."""
    first: list[Numbers] = []
    last: list[Numbers] = []
    count, room = 1, max(1, most)
    for size in loops:
        length = -(-size // room)  # of a block of this loop: 1 while all fits
        own = -(-size // length) if length else 0
        start = np.arange(own, dtype=np.int64) * length
        first = [np.repeat(index, own) for index in first]
        last = [np.repeat(index, own) for index in last]
        first.append(np.tile(start, count))
        last.append(np.tile(np.minimum(start + length, size) - 1, count))
        count *= own
        room = room // own if length == 1 else 1
    return _Blocks(count, tuple(first), tuple(last))


def _part(part: Part, around: _Blocks, inside: _Blocks) -> tuple[int, dict[tuple[int, bool], Extent]]:
    """Return how many turns the part has within one of the common loops, and what each turn of it touches."""
    first = [np.repeat(index, inside.count) for index in around.first]
    last = [np.repeat(index, inside.count) for index in around.last]
    first += [np.tile(index, around.count) for index in inside.first]
    last += [np.tile(index, around.count) for index in inside.last]
    extents: dict[tuple[int, bool], Extent] = {}
    for touch in part.touches:
        key = touch.operand, touch.writes
        extent = _extent(touch, around.count * inside.count, first, last)
        extents[key] = extents[key].joined(extent) if key in extents else extent
    return inside.count, extents


def _extent(touch: Touch, count: int, first: list[Numbers], last: list[Numbers]) -> Extent:
    """Add up strides and windows: what the turns of a block touch at the lowest and the highest."""
    low = np.full(count, touch.start, dtype=np.int64)
    high = low.copy()
    inside = np.full(count, touch.size > 0)
    for stride, one, other in zip(touch.strides, first, last, strict=False):
        if stride:
            low += stride * (one if stride > 0 else other)
            high += stride * (other if stride > 0 else one)
    for window in touch.windows:
        lowest, highest = _places(window, first[window.loop], last[window.loop])
        low += lowest * window.pitch
        high += highest * window.pitch
        inside &= lowest <= highest
    return Extent(np.where(inside, low, NOWHERE), np.where(inside, high + touch.size, -NOWHERE))


def _places(window: Window, first: Numbers, last: Numbers) -> tuple[Numbers, Numbers]:
    """Return the lowest and the highest place inside, the lowest above the highest where there is none."""
    begin, behind = first * window.step - window.before, last * window.step - window.before
    tap = np.maximum(0, -(begin // window.dilation))  # the first that is not before the axis
    lowest = begin + tap * window.dilation
    tap = np.minimum(window.taps - 1, (window.size - 1 - behind) // window.dilation)
    highest = behind + tap * window.dilation
    if np.array_equal(first, last):
        return lowest, highest
    return np.maximum(begin, 0), np.minimum(behind + (window.taps - 1) * window.dilation, window.size - 1)
