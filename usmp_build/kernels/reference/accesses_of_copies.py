"""Copies: a block, or a line of what is padded, is a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window

_AXIS = 3
"""Numbers of an axis in the table: padding before, size of the input, padding behind."""


def copied(p: Mapping[str, int]) -> Accesses:
    """Blocks of `size` bytes."""
    read = Touch(0, p["size"], (p["input_pitch"],), p["input_offset"])
    written = Touch(1, p["size"], (p["output_pitch"],), p["output_offset"], writes=True)
    return Accesses((Part((p["count"],), (read, written)),), (1, 1))


def padded(p: Mapping[str, int], axes: Sequence[int]) -> Accesses:
    """A line crosses the input when its index along every outer axis does; then all that crosses is read at first."""
    before, sizes, behind = (axes[number::_AXIS] for number in range(_AXIS))
    line, width = sizes[-1], p["width"]
    windows, strides = [], []
    pitch, step = line, before[-1] + line + behind[-1]
    for axis in reversed(range(len(sizes) - 1)):
        windows.append(Window(axis, pitch, sizes[axis], before=before[axis]))
        strides.append(step)
        pitch *= sizes[axis]
        step *= before[axis] + sizes[axis] + behind[axis]
    loops = tuple(map(sum, zip(before[:-1], sizes[:-1], behind[:-1], strict=True)))
    read = Touch(0, line, windows=tuple(windows))
    written = Touch(3, before[-1] + line + behind[-1], tuple(reversed(strides)), writes=True)
    return Accesses((Part(loops, (read, written)),), (width, 0, 0, width))
