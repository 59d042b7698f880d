"""Problem → Strip: who conflicts with whom in one pool, and the sections in which that shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import gcd

from usmp_build.planner.algorithms.exact.spans import spans
from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.memory.problem import Problem

_MOST = 4
"""Sections beyond those of the timeline, for each buffer."""


def make_strip(problem: Problem, members: Sequence[int]) -> Strip:
    """State what one pool must hold; the order of `members` does not matter, nor do their names unless they are alike.

    A buffer of no bytes is left out where nothing is said of its place.
    """
    inside = set(members)
    pairs = {index: dict(_pairs(problem, index, inside)) for index in members}
    kept = [i for i in members if problem.buffers[i].size or not _can_be_anywhere(problem, i)]
    kept.sort(key=lambda i: _identity(problem, i))
    place = {index: position for position, index in enumerate(kept)}
    near = [{place[o]: both for o, both in sorted(pairs[i].items()) if o in place} for i in kept]
    found, linear = _sections(problem, kept, near)
    unit = _unit(problem, kept, near)
    neighbors = tuple(tuple((o, above // unit, below // unit) for o, (above, below) in sorted(n.items())) for n in near)
    sizes = tuple(problem.buffers[i].size // unit for i in kept)
    alignments = tuple(problem.buffers[i].alignment // gcd(problem.buffers[i].alignment, unit) for i in kept)
    fixed = tuple(-1 if (o := problem.buffers[i].offset) is None else o // unit for i in kept)
    return Strip(
        unit=unit,
        members=tuple(kept),
        sizes=sizes,
        alignments=alignments,
        fixed=fixed,
        neighbors=neighbors,
        spans=spans(neighbors, sizes, alignments, found),
        sections=len(found),
        linear=linear,
        ordered=_is_ordered(neighbors, fixed),
    )


def _pairs(problem: Problem, index: int, inside: set[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield neighbors with how far they start behind `index`, or `index` behind them; not pairs that always keep it.

    Both start at multiples of what their alignments have in common, and so is the distance.
    """
    own, separation = problem.buffers[index], problem.separations.get  # as `problem.separation`, but faster
    for other in problem.conflicts[index]:
        if other in inside and other != index:
            near = problem.buffers[other]
            above = separation((index, other), own.size)
            below = separation((other, index), near.size)
            if above + below > 0:
                step = gcd(own.alignment, near.alignment)
                yield other, (above + -above % step, below + -below % step)


def _can_be_anywhere(problem: Problem, index: int) -> bool:
    """Whether the start of the pool suits a buffer of no bytes, whatever lies there."""
    return problem.buffers[index].offset is None and not any(index in pair for pair in problem.separations)


def _identity(problem: Problem, index: int) -> tuple[object, ...]:
    buffer = problem.buffers[index]
    offset = -1 if buffer.offset is None else buffer.offset
    return (buffer.intervals, -buffer.size, -buffer.alignment, offset, buffer.name)


def _unit(problem: Problem, kept: Sequence[int], near: Sequence[dict[int, tuple[int, int]]]) -> int:
    """Return the unit in which everything is whole, so that offsets lose nothing by being whole, too."""
    distances = {distance for some in near for both in some.values() for distance in both}
    unit = gcd(*distances, *(problem.buffers[i].size for i in kept), *(problem.buffers[i].offset or 0 for i in kept))
    for index in kept:
        if unit % problem.buffers[index].alignment:
            unit = gcd(unit, problem.buffers[index].alignment)
    return max(1, unit)


def _sections(
    problem: Problem, kept: Sequence[int], near: Sequence[dict[int, tuple[int, int]]]
) -> tuple[list[list[int]], bool]:
    """Return sections along the timeline, then further ones for conflicts that it does not show."""
    lives = [problem.buffers[index].intervals for index in kept]
    order = sorted(range(len(kept)), key=lambda index: (-problem.buffers[kept[index]].size, index))
    ranks = [rank for _, rank in sorted(zip(order, range(len(kept)), strict=True))]
    unseen = [sum(1 << other for other in some) for some in near]  # sets of neighbors, as bits
    everyone = tuple(unseen)
    found: list[list[int]] = []
    for alive in _alive(lives):
        found += _cover(sorted(alive, key=ranks.__getitem__), everyone, unseen)
    missing = {(a, b) for a, some in enumerate(near) if unseen[a] for b in some if a < b and unseen[a] >> b & 1}
    linear = not missing
    found += _further(near, everyone, missing, _MOST * len(kept))
    lonely = set(range(len(kept))).difference(*found) if found else set(range(len(kept)))
    return found + [[index] for index in sorted(lonely)], linear


def _alive(lives: Sequence[tuple[tuple[int, int], ...]]) -> Iterator[list[int]]:
    """Yield who is alive together, just before the first death after each birth: these sets are maximal."""
    events = sorted(
        (moment, birth, index)
        for index, intervals in enumerate(lives)
        for start, stop in intervals
        for moment, birth in ((start, 1), (stop, 0))
    )
    alive: set[int] = set()
    born = False
    for _, birth, index in events:
        if birth:
            alive.add(index)
        else:
            if born:
                yield sorted(alive)
            alive.discard(index)
        born = bool(birth)


def _cover(largest_first: Sequence[int], near: Sequence[int], unseen: list[int]) -> Iterator[list[int]]:
    """Yield sets of mutual neighbors among those alive together, so that no two neighbors stay `unseen`."""
    alive = sum(1 << index for index in largest_first)
    first: Sequence[int] = ()
    while True:
        members = _mutual([*first, *largest_first], near)
        together = sum(1 << index for index in members)
        for index in members:
            unseen[index] &= ~together
        yield members
        left = next((index for index in largest_first if unseen[index] & alive), None)
        if left is None:
            return
        first = (left, next(index for index in largest_first if unseen[left] >> index & 1))


def _mutual(largest_first: Iterable[int], near: Sequence[int]) -> list[int]:
    """Leave out who does not conflict with all before him: alive together is not always in conflict."""
    chosen, together = [], 0
    for index in largest_first:
        if not together & ~near[index] and not together >> index & 1:
            chosen.append(index)
            together |= 1 << index
    return sorted(chosen)


def _further(
    near: Sequence[dict[int, tuple[int, int]]], bits: Sequence[int], missing: set[tuple[int, int]], most: int
) -> Iterator[list[int]]:
    """Yield sets of mutual neighbors, one for each pair that no set before it has, up to so many.

    `bits` are the same neighbors, as bits.
    """
    shown = [0] * len(near)
    for a, b in sorted(missing):
        if most and not shown[a] >> b & 1:
            most -= 1
            members, together = [a, b], 1 << a | 1 << b
            for other in near[a]:
                if not together & ~bits[other]:
                    members.append(other)
                    together |= 1 << other
            for index in members:
                shown[index] |= together
            yield sorted(members)


def _is_ordered(neighbors: Sequence[Sequence[tuple[int, int, int]]], fixed: Sequence[int]) -> bool:
    """Whether the distances of any circle of free buffers, each behind the last, sum up to more than 0.

    Then nobody can be behind himself.  Only distances of 0 or less can make such a circle, so mostly there is nothing
    to look for.  The search is for the longest ways (Bellman, Ford); a way that is still growing when it has passed
    everybody goes round in a circle.
    """
    free = [[near for near in some if fixed[near[0]] < 0] if fixed[i] < 0 else [] for i, some in enumerate(neighbors)]
    if all(above > 0 for some in free for _, above, _ in some):
        return True
    count = len(free)
    scale = count + 1  # a circle of so many steps or fewer that sums up to 0 becomes negative
    away = [0] * count
    raised = list(range(count))
    for _ in range(count + 1):
        nearer = set()
        for index in raised:
            for other, above, _ in free[index]:
                if away[index] + above * scale - 1 < away[other]:
                    away[other] = away[index] + above * scale - 1
                    nearer.add(other)
        if not nearer:
            return True
        raised = sorted(nearer)
    return False
