"""Makes strips of problems: the conflicts of one pool, and the sections that cover them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import gcd

from usmp_build.planner.algorithms.core import NO_PLACE
from usmp_build.planner.algorithms.exact.spans import spans
from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.memory.problem import Problem

_MOST = 4
"""Most sections beyond those of the timeline, for each buffer."""


def make_strip(problem: Problem, members: Sequence[int]) -> Strip:
    """Return the strip of these buffers in one pool.

    It does not depend on the order of `members`, nor on names unless buffers are equal otherwise.  Empty buffers are
    left out where any place will do.
    """
    inside = set(members)
    pairs = {index: dict(_pairs(problem, index, inside)) for index in members}
    kept = [i for i in members if problem.buffers[i].size or not _can_be_anywhere(problem, i)]
    kept.sort(key=lambda i: _identity(problem, i))
    positions = {index: position for position, index in enumerate(kept)}
    near = [_by_position(pairs[i], positions) for i in kept]
    sections, linear = _sections(problem, kept, near)
    unit = _unit(problem, kept, near)
    neighbors = tuple(tuple((o, above // unit, below // unit) for o, (above, below) in sorted(n.items())) for n in near)
    sizes = tuple(problem.buffers[i].size // unit for i in kept)
    alignments = tuple(problem.buffers[i].alignment // gcd(problem.buffers[i].alignment, unit) for i in kept)
    fixed = tuple(NO_PLACE if (o := problem.buffers[i].offset) is None else o // unit for i in kept)
    return Strip(
        unit=unit,
        members=tuple(kept),
        sizes=sizes,
        alignments=alignments,
        fixed=fixed,
        neighbors=neighbors,
        spans=spans(neighbors, sizes, alignments, sections),
        sections=len(sections),
        linear=linear,
        ordered=_is_ordered(neighbors, fixed),
    )


def _pairs(problem: Problem, index: int, inside: set[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield neighbors with their distances above and below `index`; not pairs that are always that far apart.

    Both start at multiples of the greatest common divisor of their alignments, so distances are rounded up to that.
    """
    buffer, separation = problem.buffers[index], problem.separations.get  # as `problem.separation`, but faster
    for other in problem.conflicts[index]:
        if other in inside and other != index:
            neighbor = problem.buffers[other]
            above = separation((index, other), buffer.size)
            below = separation((other, index), neighbor.size)
            if above + below > 0:
                step = gcd(buffer.alignment, neighbor.alignment)
                yield other, (above + -above % step, below + -below % step)


def _by_position(pairs: Mapping[int, tuple[int, int]], positions: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    return {positions[other]: both for other, both in sorted(pairs.items()) if other in positions}


def _can_be_anywhere(problem: Problem, index: int) -> bool:
    """Whether an empty buffer can always be at the start of the pool."""
    return problem.buffers[index].offset is None and not any(index in pair for pair in problem.separations)


def _identity(problem: Problem, index: int) -> tuple[object, ...]:
    buffer = problem.buffers[index]
    offset = -1 if buffer.offset is None else buffer.offset
    return (buffer.intervals, -buffer.size, -buffer.alignment, offset, buffer.name)


def _unit(problem: Problem, kept: Sequence[int], near: Sequence[dict[int, tuple[int, int]]]) -> int:
    """Return the unit, in bytes, that divides all sizes, distances and fixed offsets: whole offsets are then enough."""
    distances = {distance for pairs in near for both in pairs.values() for distance in both}
    unit = gcd(*distances, *(problem.buffers[i].size for i in kept), *(problem.buffers[i].offset or 0 for i in kept))
    for index in kept:
        if unit % problem.buffers[index].alignment:
            unit = gcd(unit, problem.buffers[index].alignment)
    return max(1, unit)


def _sections(
    problem: Problem, kept: Sequence[int], near: Sequence[dict[int, tuple[int, int]]]
) -> tuple[list[list[int]], bool]:
    """Return sections along the timeline, then further ones for conflicts of buffers that share no step.

    The second value is whether the timeline shows all conflicts.
    """
    intervals = [problem.buffers[index].intervals for index in kept]
    order = sorted(range(len(kept)), key=lambda index: (-problem.buffers[kept[index]].size, index))
    ranks = [rank for _, rank in sorted(zip(order, range(len(kept)), strict=True))]
    unseen = [sum(1 << other for other in pairs) for pairs in near]  # sets of neighbors, as bits
    neighbor_bits = tuple(unseen)
    sections: list[list[int]] = []
    for alive in _alive(intervals):
        sections += _cover(sorted(alive, key=ranks.__getitem__), neighbor_bits, unseen)
    missing = {(a, b) for a, pairs in enumerate(near) if unseen[a] for b in pairs if a < b and unseen[a] >> b & 1}
    linear = not missing
    sections += _further(near, neighbor_bits, missing, _MOST * len(kept))
    lonely = set(range(len(kept))).difference(*sections) if sections else set(range(len(kept)))
    return sections + [[index] for index in sorted(lonely)], linear


def _alive(lifetimes: Sequence[tuple[tuple[int, int], ...]]) -> Iterator[list[int]]:
    """Yield the sets of buffers alive just before the first death after each birth: these sets are maximal."""
    events = sorted(
        (moment, birth, index)
        for index, intervals in enumerate(lifetimes)
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
    """Yield cliques of neighbors among buffers alive together, until they cover each pair of neighbors in `unseen`."""
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
    """Return a clique, chosen greedily: buffers that are alive together do not always conflict."""
    chosen, together = [], 0
    for index in largest_first:
        if not together & ~near[index] and not together >> index & 1:
            chosen.append(index)
            together |= 1 << index
    return sorted(chosen)


def _further(
    near: Sequence[dict[int, tuple[int, int]]], bits: Sequence[int], missing: set[tuple[int, int]], most: int
) -> Iterator[list[int]]:
    """Yield cliques, one for each missing pair that none before it has, `most` at most.

    `bits` are the neighbors, as bits.
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
    """Whether the distances of any cycle of free buffers, each above the last, sum up to more than 0.

    Then no buffer can be above itself.  Only distances of 0 or less can make such a cycle, so mostly there is nothing
    to search.  Otherwise this is Bellman-Ford: a path that still gets shorter after as many rounds as there are
    buffers contains a cycle.
    """
    free = [
        [pair for pair in pairs if fixed[pair[0]] == NO_PLACE] if fixed[i] == NO_PLACE else []
        for i, pairs in enumerate(neighbors)
    ]
    if all(above > 0 for pairs in free for _, above, _ in pairs):
        return True
    count = len(free)
    scale = count + 1  # so that cycles, of at most `count` edges, which sum up to 0 become negative
    distances = [0] * count
    changed = list(range(count))
    for _ in range(count + 1):
        nearer = set()
        for index in changed:
            for other, above, _ in free[index]:
                if distances[index] + above * scale - 1 < distances[other]:
                    distances[other] = distances[index] + above * scale - 1
                    nearer.add(other)
        if not nearer:
            return True
        changed = sorted(nearer)
    return False
