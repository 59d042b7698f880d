"""In which sections a buffer is, and how many units it adds to each.

Two ways to count are sound for any buffers of a section, and the one that says more is taken:

    what keeps off   a buffer adds what every other one must keep free behind its start; the last one of a section,
                     what is less than its size, or more for its alignment
    what is shared   the first buffer adds its size, each further one its size less what it may share with those
                     before it: a union is at least the sum less what pairs have in common

A kernel that works in place, from 8 units to 6, keeps nothing off, for either may start where the other does; but they
share no more than 6, so they add 8 and 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

Near = tuple[tuple[int, int, int], ...]
"""As `strip.Strip.neighbors`."""


def spans(
    neighbors: Sequence[Near], sizes: Sequence[int], alignments: Sequence[int], sections: Sequence[Sequence[int]]
) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """Merge sections that follow each other and in which a buffer counts alike; see `strip.Strip.spans`."""
    odd = [
        {o: above if below > 0 else 0 for o, above, below in some if above != size or below <= 0}
        for size, some in zip(sizes, neighbors, strict=True)
    ]
    loose = {
        i: {o: (above, below) for o, above, below in some if above < sizes[i] or below < sizes[o]}
        for i, some in enumerate(neighbors)
    }
    by_size = sorted(range(len(sizes)), key=lambda index: (-sizes[index], index))
    rank = {index: number for number, index in enumerate(by_size)}
    found: list[list[tuple[int, int, int]]] = [[] for _ in sizes]
    for section, members in enumerate(sections):
        inside = set(members)
        added = {i: _kept_off(odd[i], inside, sizes[i]) for i in members}
        if any(loose[i].keys() & inside for i in members):
            largest_first = sorted(members, key=rank.__getitem__)
            added = max(added, _unshared(largest_first, sizes, alignments, loose), key=lambda some: sum(some.values()))
        for index, units in added.items():
            if found[index] and found[index][-1][1:] == (section - 1, units):
                found[index][-1] = (found[index][-1][0], section, units)
            else:
                found[index].append((section, section, units))
    return tuple(map(tuple, found))


def _kept_off(odd: Mapping[int, int], members: set[int], size: int) -> int:
    """Return how far every other buffer of a section starts behind this one; for alignment, more than its size.

    Where the other may start lower although this one is not behind it, that is nothing.  `odd` has those that do not
    start just behind its size.
    """
    if not odd:
        return size
    kept = [odd[other] for other in odd.keys() & members]
    if len(kept) + 1 < len(members) or not kept:
        kept.append(size)
    return max(0, min(kept))


def _unshared(
    largest_first: Sequence[int],
    sizes: Sequence[int],
    alignments: Sequence[int],
    loose: Mapping[int, Mapping[int, tuple[int, int]]],
) -> dict[int, int]:
    """Return what buffers add, one after the other, when each pair shares as much as it may.

    What they share is rounded up to units that all of them start at, so that the count holds in such units, too.
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
