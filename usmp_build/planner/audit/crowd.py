"""Bytes that conflicting buffers need, computed independently of the planner."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from math import gcd

from usmp_build.planner.audit.question import Audited

_MOST_UNITS = 64

_MOST = 8
Distances = Mapping[tuple[int, int], int]
"""(a, b) → least distance from the start of a to that of b above it, in bytes; both ways for each pair."""


def needed(question: Audited, members: Sequence[int], pools: int) -> int:
    """Return bytes that every plan needs for buffers that all conflict with each other, in `pools` pools.

    When all start at multiples of a unit, all but the topmost of each pool fill whole units; a pair with a separation
    may share what that leaves, in whole units.  In one pool, groups that may share bytes also need what they take in
    the best order, each by itself: without the bytes of the others, what is above them could move down.  Any unit that
    divides the alignments will do, and with separations the largest is not always the best.  A buffer with a fixed
    offset needs all bytes before its end.
    """
    buffers = [question.buffer(index) for index in members]
    fixed = [buffer.offset + buffer.size for buffer in buffers if buffer.offset is not None]
    # of the buffers, 1, and the common divisors of these with all alignments, up to a limit
    largest = gcd(*(buffer.alignment for buffer in buffers)) or 1
    units = {largest, 1}
    for alignment in question.alignments:
        units |= {gcd(unit, alignment) for unit in units}
        if len(units) > _MOST_UNITS:
            break
    simple = max([0, *fixed, *(_side_by_side(question, members, pools, unit) for unit in units)])
    if question.is_timed or pools > 1:
        return simple
    return max([simple, *(_in_order(question, members, unit) for unit in units)])


def _side_by_side(question: Audited, members: Sequence[int], pools: int, unit: int) -> int:
    sizes = [question.buffer(index).size for index in members]
    whole = [-(-size // unit) * unit for size in sizes]
    slack = heapq.nlargest(pools, (units - size for units, size in zip(whole, sizes, strict=True)))
    shared = 0
    if not question.is_timed:
        for (a, size_a), (b, size_b) in combinations(zip(members, whole, strict=True), 2):
            distances = question.separation(a, b), question.separation(b, a)
            above, below = (-(-distance // unit) * unit for distance in distances)
            shared += max(0, min(size_a, size_b, max(size_a - above, size_b - below)))
    return sum(whole) - sum(slack) - shared


def _in_order(question: Audited, members: Sequence[int], unit: int) -> int:
    """Return the bytes that groups of buffers need, each in its best order; 0 where that is unknown."""
    whole = {index: -(-question.buffer(index).size // unit) * unit for index in members}
    distances = {(a, b): -(-question.separation(a, b) // unit) * unit for a in members for b in members if a != b}
    total = 0
    for group in _sharing(members, {pair for pair, distance in distances.items() if distance < whole[pair[0]]}):
        pairs = {(a, b): distances[group[a], group[b]] for a in range(len(group)) for b in range(len(group)) if a != b}
        extent = shared_extent([whole[index] for index in group], pairs)
        if extent is None:
            return 0
        total += extent
    return total - max((whole[index] - question.buffer(index).size for index in members), default=0)


def _sharing(members: Sequence[int], loose: set[tuple[int, int]]) -> list[list[int]]:
    """Split buffers into groups, so that buffers of different groups share no bytes."""
    groups: list[list[int]] = []
    for index in members:
        joined = [group for group in groups if any({(index, o), (o, index)} & loose for o in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([index, *(other for group in joined for other in group)])
    return groups


def shared_extent(sizes: Sequence[int], distances: Distances) -> int | None:
    """Return the least end of the topmost buffer over all orders; None with more than `_MOST` buffers, or cycles.

    Buffers that could each be above the next one in a cycle need not have an order.
    """
    members = range(len(sizes))
    held = {(a, b): apart for (a, b), apart in distances.items() if apart + distances[b, a] > 0}
    if len(sizes) > _MOST or _has_cycle(len(sizes), held):
        return None
    return min(_stacked(order, sizes, held) for order in permutations(members))


def _stacked(order: Sequence[int], sizes: Sequence[int], held: Distances) -> int:
    offsets: dict[int, int] = {}
    for index in order:
        offsets[index] = max([0, *(offsets[a] + held[a, index] for a in offsets if (a, index) in held)])
    return max(offsets[index] + sizes[index] for index in order)


def _has_cycle(count: int, held: Distances) -> bool:
    """Whether a cycle sums up to 0 or less: then the shortest path back to a buffer in `count` edges or fewer does."""
    for start in range(count):
        best = {start: 0}
        for _ in range(count):
            step: dict[int, int] = {}
            for (a, b), apart in held.items():
                if a in best:
                    step[b] = min(step.get(b, best[a] + apart), best[a] + apart)
            if step.get(start, 1) <= 0:
                return True
            best = step
    return False
