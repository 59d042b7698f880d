"""Makes strips of problems: the conflicts of one pool, and the sections that cover them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import gcd

import numpy as np

from usmp_build.planner.algorithms.core import NO_PLACE, call
from usmp_build.planner.algorithms.exact.strip import Span, Strip
from usmp_build.planner.algorithms.near import Near, near
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.timeline import Array

_MOST = 4
"""Most sections beyond those of the timeline, for each buffer."""


def make_strip(problem: Problem, members: Sequence[int]) -> Strip:
    """Return the strip of these buffers in one pool.

    It does not depend on the order of `members`, nor on names unless buffers are equal otherwise.  Empty buffers are
    left out where any place will do.
    """
    kept = [i for i in members if problem.buffers[i].size or not _can_be_anywhere(problem, i)]
    kept.sort(key=lambda i: _identity(problem, i))
    conflicts = near(problem, kept)  # refuses what 64 bits cannot count
    alignments = np.array([problem.buffers[i].alignment for i in kept], np.int64)
    pairs = _binding(conflicts, alignments)
    sections, linear = _sections(problem, kept, pairs)
    unit = _unit(problem, kept, pairs)
    pairs, sizes = pairs.in_units(unit), np.array([problem.buffers[i].size // unit for i in kept], np.int64)
    fixed = tuple(NO_PLACE if (o := problem.buffers[i].offset) is None else o // unit for i in kept)
    alignments //= np.gcd(alignments, unit)
    return Strip(
        unit=unit,
        members=tuple(kept),
        sizes=tuple(sizes.tolist()),
        alignments=tuple(alignments.tolist()),
        fixed=fixed,
        near=pairs,
        spans=_spans(pairs, sizes, alignments, sections),
        sections=len(sections),
        linear=linear,
        ordered=_is_ordered(pairs, fixed),
    )


def _binding(pairs: Near, alignments: Array) -> Near:
    """Return the pairs without those that are always far enough apart.

    Both start at multiples of the greatest common divisor of their alignments, so distances are rounded up to that.
    """
    pairs = pairs.where(pairs.above + pairs.below > 0)
    step = np.gcd(alignments[pairs.ones], alignments[pairs.others])
    return replace(pairs, above=pairs.above + -pairs.above % step, below=pairs.below + -pairs.below % step)


def _can_be_anywhere(problem: Problem, index: int) -> bool:
    """Whether an empty buffer can always be at the start of the pool."""
    return problem.buffers[index].offset is None and not any(index in pair for pair in problem.separations)


def _identity(problem: Problem, index: int) -> tuple[object, ...]:
    buffer = problem.buffers[index]
    offset = -1 if buffer.offset is None else buffer.offset
    return (buffer.intervals, -buffer.size, -buffer.alignment, offset, buffer.name)


def _unit(problem: Problem, kept: Sequence[int], pairs: Near) -> int:
    """Return the unit, in bytes, that divides all sizes, distances and fixed offsets: whole offsets are then enough."""
    distances = int(np.gcd.reduce(pairs.above)), int(np.gcd.reduce(pairs.below))
    unit = gcd(*distances, *(problem.buffers[i].size for i in kept), *(problem.buffers[i].offset or 0 for i in kept))
    for index in kept:
        if unit % problem.buffers[index].alignment:
            unit = gcd(unit, problem.buffers[index].alignment)
    return max(1, unit)


def _sections(problem: Problem, kept: Sequence[int], pairs: Near) -> tuple[list[list[int]], bool]:
    """Return sections along the timeline, then further ones for conflicts of buffers that share no step.

    The second value is whether the timeline shows all conflicts.
    """
    intervals = [problem.buffers[index].intervals for index in kept]
    order = sorted(range(len(kept)), key=lambda index: (-problem.buffers[kept[index]].size, index))
    ranks = [rank for _, rank in sorted(zip(order, range(len(kept)), strict=True))]
    neighbors = [row.tolist() for row in np.split(pairs.others, pairs.starts[1:-1])]
    bits = [_bits(row, len(kept)) for row in neighbors]
    unseen = [*bits]
    sections: list[list[int]] = []
    for alive in _alive(intervals):
        sections += _cover(sorted(alive, key=ranks.__getitem__), bits, unseen)
    missing = [(a, b) for a, row in enumerate(neighbors) if unseen[a] for b in row if a < b and unseen[a] >> b & 1]
    sections += _further(neighbors, bits, missing, _MOST * len(kept))
    lonely = set(range(len(kept))).difference(*sections) if sections else set(range(len(kept)))
    return sections + [[index] for index in sorted(lonely)], not missing


def _bits(members: Sequence[int], count: int) -> int:
    """Return a set of numbers below `count` as the bits of one."""
    is_member = np.zeros(count, np.bool_)
    is_member[[*members]] = True
    return int.from_bytes(np.packbits(is_member, bitorder="little").tobytes(), "little")


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
    alive = _bits(largest_first, len(near))
    first: Sequence[int] = ()
    while True:
        members = _mutual([*first, *largest_first], near)
        together = _bits(members, len(near))
        apart = ~together
        for index in members:
            unseen[index] &= apart
        yield members
        left = next((index for index in largest_first if unseen[index] & alive), None)
        if left is None:
            return
        first = (left, next(index for index in largest_first if unseen[left] >> index & 1))


def _mutual(largest_first: Iterable[int], near: Sequence[int]) -> list[int]:
    """Return a clique, chosen greedily: buffers that are alive together do not always conflict."""
    chosen, together = [], 0
    for index in largest_first:
        if not together & ~near[index]:  # nobody is a neighbor of itself
            chosen.append(index)
            together |= 1 << index
    return sorted(chosen)


def _further(
    near: Sequence[Sequence[int]], bits: Sequence[int], missing: Sequence[tuple[int, int]], most: int
) -> Iterator[list[int]]:
    """Yield cliques, one for each missing pair that none before it has, `most` at most.

    `bits` are the neighbors, as bits; missing pairs ascend.
    """
    shown = [0] * len(near)
    for a, b in missing:
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


def _spans(
    near: Near, sizes: Array, alignments: Array, sections: Sequence[Sequence[int]]
) -> tuple[tuple[Span, ...], ...]:
    """Return the spans of each buffer; `core/spans.h` says how many units it adds to a section."""
    lengths = np.array([len(members) for members in sections], np.int64)
    members = np.fromiter(chain.from_iterable(sections), np.int64, int(lengths.sum()))
    starts = np.concatenate((np.zeros(1, np.int64), lengths.cumsum()))
    units = np.zeros(len(members), np.int64)
    call("spans", near.count, sizes, alignments, *near.triples, len(sections), starts, members, units)
    order = np.argsort(members, kind="stable")
    places = np.repeat(np.arange(len(sections)), lengths)[order]
    members, units = members[order], units[order]
    is_first = np.ones(len(members), np.bool_)
    is_first[1:] = (np.diff(members) != 0) | (np.diff(places) != 1) | (np.diff(units) != 0)
    first, last = np.flatnonzero(is_first), np.flatnonzero(np.roll(is_first, -1))
    columns = (column.tolist() for column in (members[first], places[first], places[last], units[first]))
    rows: list[list[Span]] = [[] for _ in sizes]
    for member, start, stop, added in zip(*columns, strict=True):
        rows[member].append((start, stop, added))
    return tuple(map(tuple, rows))


def _is_ordered(pairs: Near, fixed: Sequence[int]) -> bool:
    """Whether the distances of any cycle of free buffers, each above the last, sum up to more than 0.

    Then no buffer can be above itself.  Only distances of 0 or less can make such a cycle, so mostly there is nothing
    to search.  Otherwise this is Bellman-Ford: paths get shorter without end along a cycle of a sum below 0, which is
    then soon one of steps that were the last to shorten a path.
    """
    is_free = np.array([offset == NO_PLACE for offset in fixed], np.bool_)
    pairs = pairs.where(is_free[pairs.ones] & is_free[pairs.others])
    if (pairs.above > 0).all():
        return True
    free = pairs.rows()
    count = len(free)
    scale = count + 1  # so that cycles, of at most `count` edges, which sum up to 0 become negative
    distances, last_steps = [0] * count, [-1] * count
    changed = list(range(count))
    while changed:
        nearer = set()
        for index in changed:
            for other, above, _ in free[index]:
                if distances[index] + above * scale - 1 < distances[other]:
                    distances[other] = distances[index] + above * scale - 1
                    last_steps[other] = index
                    nearer.add(other)
        if _is_cyclic(last_steps, nearer):
            return False
        changed = sorted(nearer)
    return True


def _is_cyclic(last_steps: Sequence[int], ends: Iterable[int]) -> bool:
    """Tell whether paths to these ends, each step back from the last one, come to a buffer twice."""
    found: dict[int, int] = {}
    for end in ends:
        at = end
        while at >= 0 and at not in found:
            found[at] = end
            at = last_steps[at]
        if at >= 0 and found[at] == end:
            return True
    return False
