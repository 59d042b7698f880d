"""Puts sections that follow no timeline in an order in which few buffers are open at once.

    conflicts  a - b - c - d        sections  ab, cd, bc      all four are open before bc closes any
                                    narrow    ab, bc, cd      two at a time

A buffer is open from its first section to its last, and `diagram` remembers the open ones: the fewer, the better its
bound.  The next section is always one that opens few buffers and closes many.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import accumulate

from usmp_build.planner.algorithms.exact.strip import Span


def narrowed(spans: Sequence[tuple[Span, ...]], sections: int) -> list[tuple[Span, ...]]:
    """Return the spans of buffers with sections in a narrow order; unchanged where that is no narrower."""
    places = [0] * sections
    for place, section in enumerate(_order(spans, sections)):
        places[section] = place
    moved = [_moved(row, places) for row in spans]
    return moved if _most_open(moved, sections) < _most_open(spans, sections) else list(spans)


def _order(spans: Sequence[tuple[Span, ...]], sections: int) -> list[int]:
    """Return all sections in a narrow order: along chains of buffers that are open, as far as they go."""
    inside: list[list[int]] = [[] for _ in range(sections)]
    left: list[int] = []  # sections of each buffer that are not done
    for buffer, row in enumerate(spans):
        left.append(0)
        for section in _sections(row):
            inside[section].append(buffer)
            left[buffer] += 1
    growth = [sum(left[buffer] > 1 for buffer in buffers) for buffers in inside]  # of the buffers that are open
    done, is_open, order = [False] * sections, [False] * len(spans), list[int]()
    for start in sorted(range(sections), key=growth.__getitem__):
        queue = [(growth[start], start)]
        while queue:
            grown, section = heappop(queue)
            if done[section] or grown != growth[section]:
                continue
            done[section] = True
            order.append(section)
            for buffer in inside[section]:
                left[buffer] -= 1
                changes = [not is_open[buffer], left[buffer] == 1].count(True)
                is_open[buffer] = True
                if changes == 0:  # sections are in the queue as they are
                    continue
                for other in _sections(spans[buffer]):
                    if not done[other]:
                        growth[other] -= changes
                        heappush(queue, (growth[other], other))
    return order


def _sections(row: Sequence[Span]) -> list[int]:
    return [section for first, last, _ in row for section in range(first, last + 1)]


def _moved(row: Sequence[Span], places: Sequence[int]) -> tuple[Span, ...]:
    """Return the spans of a buffer with each section in its place, adjacent ones of equal units joined."""
    joined: list[Span] = []
    for place, units in sorted((places[s], units) for first, last, units in row for s in range(first, last + 1)):
        if joined and joined[-1][1:] == (place - 1, units):
            joined[-1] = (joined[-1][0], place, units)
        else:
            joined.append((place, place, units))
    return tuple(joined)


def _most_open(spans: Sequence[tuple[Span, ...]], sections: int) -> int:
    """Return the most buffers that are open at once."""
    changes = [0] * (sections + 1)
    for row in spans:
        if row:
            changes[row[0][0]] += 1
            changes[row[-1][1] + 1] -= 1
    return max(accumulate(changes), default=0)
