"""Runs access declarations: turn by turn, the bytes of each operand that are read and written."""

from collections.abc import Iterator
from itertools import product

from usmp_build.interfaces.accesses import Accesses, Touch, Window


def rounds(loops: tuple[int, ...], backward: bool) -> Iterator[tuple[int, ...]]:
    yield from product(*(range(size)[:: -1 if backward else 1] for size in loops))


def positions(window: Window, index: tuple[int, ...]) -> Iterator[int]:
    first = (index[window.loop] * window.step + window.phase) // window.repeat - window.before
    for tap in range(window.taps):
        place, rest = divmod(first + tap * window.dilation, window.every)
        if not rest and 0 <= place < window.size:
            yield place * window.pitch


def touched(touch: Touch, index: tuple[int, ...], width: int) -> set[int]:
    start = touch.start + sum(stride * each for stride, each in zip(touch.strides, index, strict=False))
    starts = (start + sum(more) for more in product(*(tuple(positions(w, index)) for w in touch.windows)))
    return {at * width + byte for first in starts for at in range(first, first + touch.size) for byte in range(width)}


def trace(accesses: Accesses) -> Iterator[dict[tuple[int, bool], set[int]]]:
    """Yield the bytes that each turn touches of an operand, and whether it writes them."""
    parts = accesses.parts[:: -1 if accesses.backward and not accesses.phases else 1]
    for outer in rounds(accesses.loops, accesses.backward):
        for part in parts:
            for inner in rounds(part.loops, accesses.backward and not part.forward):
                turn: dict[tuple[int, bool], set[int]] = {}
                for touch in part.touches:
                    bytes_ = touched(touch, (*outer, *inner), accesses.widths[touch.operand])
                    turn[touch.operand, touch.writes] = turn.get((touch.operand, touch.writes), set()) | bytes_
                yield turn
