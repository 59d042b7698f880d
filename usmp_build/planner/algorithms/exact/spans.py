"""Computes spans: in which sections a buffer is, and how many units it adds to each.

Two ways to count are sound for any buffers of a section, and the one with the greater sum is used:

    distance kept    a buffer adds the least distance from its start to any buffer above it: less than its size where
                     these may overlap, more where alignment requires
    bytes shared     the first buffer adds its size, each further one its size less what it may share with those
                     before it: a union is at least the sum less what pairs have in common

A kernel that works in place, from 8 units to 6, keeps no distance, for both may start at one offset; but they share no
more than 6, so they add 8 and 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

Near = tuple[tuple[int, int, int], ...]
"""As `strip.Strip.neighbors`."""


def spans(
    neighbors: Sequence[Near], sizes: Sequence[int], alignments: Sequence[int], sections: Sequence[Sequence[int]]
) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """Return the spans of each buffer, in consecutive sections with the same count merged; see `strip.Strip.spans`."""
    odd = [_odd(size, pairs) for size, pairs in zip(sizes, neighbors, strict=True)]
    loose = {index: _loose(index, pairs, sizes) for index, pairs in enumerate(neighbors)}
    by_size = sorted(range(len(sizes)), key=lambda index: (-sizes[index], index))
    rank = {index: number for number, index in enumerate(by_size)}
    rows: list[list[tuple[int, int, int]]] = [[] for _ in sizes]
    for section, members in enumerate(sections):
        inside = set(members)
        added = {i: _distance_kept(odd[i], inside, sizes[i]) for i in members}
        if any(loose[i].keys() & inside for i in members):
            largest_first = sorted(members, key=rank.__getitem__)
            added = max(
                added, _unshared(largest_first, sizes, alignments, loose), key=lambda units: sum(units.values())
            )
        for index, units in added.items():
            if rows[index] and rows[index][-1][1:] == (section - 1, units):
                rows[index][-1] = (rows[index][-1][0], section, units)
            else:
                rows[index].append((section, section, units))
    return tuple(map(tuple, rows))


def _odd(size: int, pairs: Near) -> dict[int, int]:
    """Return how far above a buffer those start that do not start at its end: 0 where they may be below it."""
    return {other: above if below > 0 else 0 for other, above, below in pairs if above != size or below <= 0}


def _loose(index: int, pairs: Near, sizes: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return the neighbors that may share bytes with a buffer, with the distances above and below."""
    return {o: (above, below) for o, above, below in pairs if above < sizes[index] or below < sizes[o]}


def _distance_kept(odd: Mapping[int, int], members: set[int], size: int) -> int:
    """Return the least distance from the start of this buffer to any other of a section that is above it.

    It exceeds the size where alignment requires, and is 0 where another may start lower without being below.  `odd`
    has the distances that are not just the size.
    """
    if not odd:
        return size
    distances = [odd[other] for other in odd.keys() & members]
    if len(distances) + 1 < len(members) or not distances:
        distances.append(size)
    return max(0, min(distances))


def _unshared(
    largest_first: Sequence[int],
    sizes: Sequence[int],
    alignments: Sequence[int],
    loose: Mapping[int, Mapping[int, tuple[int, int]]],
) -> dict[int, int]:
    """Return the units that buffers add, one after another, when each pair shares as much as it may.

    Shared bytes are rounded up to the largest unit at whose multiples all buffers start, so that the count holds in it.
    """
    unit = gcd(*(alignments[index] for index in largest_first))
    added = dict.fromkeys(largest_first, 0)
    before: set[int] = set()
    for index in largest_first:
        shared = 0
        for other in before.intersection(loose[index]):
            above, below = loose[index][other]
            common = min(sizes[index], sizes[other], max(sizes[index] - above, sizes[other] - below))
            shared += -(-max(0, common) // unit) * unit
        if shared < sizes[index]:
            added[index] = sizes[index] - shared
            before.add(index)
    return added
