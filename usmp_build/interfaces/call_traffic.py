"""The bytes that a call moves for each of its operands: they follow from its accesses, but for what it states.

for pixel in 10                             touches: 3 taps x 8 channels of operand 0, those inside the row
for block in 4                                   4 channels of operand 1, written
traffic: 4 x (taps inside the row) x 8 elements read, 10 x 4 x 4 written
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from usmp_build.interfaces.accesses import Touch, Window
from usmp_build.interfaces.call_accesses import call_accesses
from usmp_build.interfaces.kernels import KernelCall, Traffic


def call_traffic(call: KernelCall) -> tuple[Traffic | None, ...]:
    """Return the traffic of each operand in all rounds of the call's loops; None: every byte is touched once."""
    touched = {**_touched(call), **call.traffic}
    return tuple(map(touched.get, range(len(call.operands))))


def _touched(call: KernelCall) -> dict[int, Traffic]:
    """Return the bytes that accesses touch, for the operands that they declare."""
    accesses, touched = call_accesses(call), dict[int, Traffic]()
    if accesses is None:
        return touched
    for part in accesses.parts:
        for touch in part.touches:
            if width := accesses.widths[touch.operand]:
                size = width * elements(touch, (*accesses.loops, *part.loops))
                more = Traffic(written=size) if touch.writes else Traffic(size)
                touched[touch.operand] = touched.get(touch.operand, Traffic()) + more
    return touched


def elements(touch: Touch, loops: tuple[int, ...]) -> int:
    """Count the elements that a touch reaches in all rounds of its loops."""
    windows = {loop: [window for window in touch.windows if window.loop == loop] for loop in range(len(loops))}
    return touch.size * prod(positions(windows[loop], rounds) for loop, rounds in enumerate(loops))


def positions(windows: Sequence[Window], rounds: int) -> int:
    """Count the positions under the windows along one loop, in all of its rounds."""
    match windows:
        case []:
            return rounds
        case [Window(repeat=1, every=1) as window]:
            return sum(_inside(window, tap, rounds) for tap in range(window.taps))
        case [Window(step=1, repeat=1) as window]:
            return sum(_divided_inside(window, tap - window.before, rounds) for tap in range(window.taps))
    return sum(prod(_taps_inside(window, each) for window in windows) for each in range(rounds))


def _inside(window: Window, tap: int, rounds: int) -> int:
    """Count the rounds in which one tap is at a position that exists."""
    before = window.before - tap * window.dilation
    first, end = -(-before // window.step), -(-(window.size + before) // window.step)
    return max(0, min(end, rounds) - max(first, 0))


def _divided_inside(window: Window, first: int, rounds: int) -> int:
    """Count the rounds in which one tap, at `first` in the first round, is at a position that `every` divides."""
    end = min(first + rounds, window.size * window.every)
    return max(0, -(-end // window.every) + (-max(first, 0) // window.every))


def _taps_inside(window: Window, round_: int) -> int:
    """Count the taps that are at positions that exist in one round."""
    first = (round_ * window.step + window.phase) // window.repeat - window.before
    positions = (first + tap * window.dilation for tap in range(window.taps))
    return sum(position % window.every == 0 and 0 <= position // window.every < window.size for position in positions)
