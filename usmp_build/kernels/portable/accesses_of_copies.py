"""Accesses of copies: each turn is a block, or a line of a padded tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window


class Side(NamedTuple):
    """Where the blocks of a copy are in one of its operands, in bytes."""

    offset: int
    pitch: int


def copy_accesses(count: int, size: int, source: Side, target: Side) -> Accesses:
    """Return the accesses of copying `count` blocks of `size` bytes."""
    read = Touch(0, size, (source.pitch,), source.offset)
    written = Touch(1, size, (target.pitch,), target.offset, writes=True)
    return Accesses((Part((count,), (read, written)),), (1, 1))


def pad_accesses(axes: Sequence[tuple[int, int, int]], element_size: int) -> Accesses:
    """Return the accesses of PAD.  A line inside the input along every outer axis reads its part of the input first.

    Each axis has the padding before, the size of the input, and the padding after; elements have `element_size` bytes.
    """
    before, sizes, after = zip(*axes, strict=True)
    line = sizes[-1]
    windows, strides = [], []
    pitch, step = line, before[-1] + line + after[-1]
    for axis in reversed(range(len(sizes) - 1)):
        windows.append(Window(axis, pitch, sizes[axis], before=before[axis]))
        strides.append(step)
        pitch *= sizes[axis]
        step *= before[axis] + sizes[axis] + after[axis]
    loops = tuple(map(sum, zip(before[:-1], sizes[:-1], after[:-1], strict=True)))
    read = Touch(0, line, windows=tuple(windows))
    written = Touch(3, before[-1] + line + after[-1], tuple(reversed(strides)), writes=True)
    return Accesses((Part(loops, (read, written)),), (element_size, 0, 0, element_size))
