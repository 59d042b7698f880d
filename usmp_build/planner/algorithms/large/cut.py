"""Cuts out the part of a plan that is searched again; core/cut.cpp is the same in C++.

    offset ^    :     |  core   |      :
           |    : rr  |mmmmm  mm|   rr :         m  members: alive in the core; the search places them
           |    :rrr  mmmmmm    |   rrr:         r  the ring: first fit places them again, around the members
          |  ff:fffff|     mmmmmm   ff:ffff     f  fixed: alive beyond what is cut out, so they stay
           +----:-----+---------+------:--->

The search succeeds if members end below the target, and after that the ring does, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.algorithms.large.first_fit import NOWHERE, FirstFit
from usmp_build.planner.algorithms.large.sections import Sections


@dataclass(slots=True)
class Obstacle:
    """A range of bytes that stays taken: by a buffer, or by adjacent ones that are alive as long as any member.

    Offset and size in bytes; `first` and `last` are sections.
    """

    offset: int
    first: int
    last: int
    size: int


@dataclass(frozen=True, slots=True)
class Cut:
    """The buffers around a core."""

    members: list[int]
    ring: list[int]
    fixed: list[Obstacle]
    """Only those that are alive together with members."""


def cut_out(sections: Sections, plan: FirstFit, core: tuple[int, int], around: tuple[int, int]) -> Cut:
    """Cut out what is alive in a core and not beyond `around`, which contains it; both are (first, last) section."""
    members, ring, fixed = [], [], []
    low, high = core  # where members are alive
    for buffer in plan.alive.within(*around):
        first, last = sections.firsts[buffer], sections.lasts[buffer]
        if first < around[0] or around[1] < last:
            fixed.append(Obstacle(plan.offsets[buffer], first, last, sections.sizes[buffer]))
        elif first <= core[1] and core[0] <= last:
            members.append(buffer)
            low, high = min(low, first), max(high, last)
        else:
            ring.append(buffer)
    return Cut(members, ring, _joined(fixed, low, high))


def _joined(obstacles: list[Obstacle], low: int, high: int) -> list[Obstacle]:
    """Drop obstacles that meet no member, and join adjacent ones that are alive as long as any member.

    Thousands of long-lived buffers then cost a search no more than a few.
    """
    result: list[Obstacle] = []
    previous = None  # the last one, if it is alive as long
    for obstacle in sorted(obstacles, key=lambda obstacle: (obstacle.offset, obstacle.first)):
        if obstacle.last < low or high < obstacle.first:
            continue
        spans = obstacle.first <= low and high <= obstacle.last
        if spans and previous is not None and previous.offset + previous.size == obstacle.offset:
            previous.size += obstacle.size
            continue
        if spans:
            obstacle.first, obstacle.last = low, high
        previous = obstacle if spans else None
        result.append(obstacle)
    return result


def make_strip(sections: Sections, cut: Cut, core: tuple[int, int]) -> Strip:
    """State the problem of placing the members among the obstacles, for the exact search."""
    lives = [(sections.firsts[member], sections.lasts[member], sections.sizes[member]) for member in cut.members]
    lives += [(obstacle.first, obstacle.last, obstacle.size) for obstacle in cut.fixed]
    spans = []
    for begin, end, size in lives:
        first, last = max(begin, core[0]), min(end, core[1])
        spans.append(((first - core[0], last - core[0], size) if first <= last else (0, 0, 0),))
    return Strip(
        unit=1,
        members=tuple(range(len(lives))),
        sizes=tuple(size for _, _, size in lives),
        alignments=(*(sections.alignments[member] for member in cut.members), *([1] * len(cut.fixed))),
        fixed=(*([NOWHERE] * len(cut.members)), *(obstacle.offset for obstacle in cut.fixed)),
        neighbors=tuple(_neighbors(lives, len(cut.members))),
        spans=tuple(spans),
        sections=core[1] - core[0] + 1,
        linear=True,
        ordered=True,
    )


def _neighbors(lives: list[tuple[int, int, int]], members: int) -> list[tuple[tuple[int, int, int], ...]]:
    """Return the conflicts of members, which come first, with each other and with obstacles."""
    neighbors = []
    for i, (first, last, size) in enumerate(lives):
        others = lives if i < members else lives[:members]
        conflicts = ((j, size, above) for j, (a, b, above) in enumerate(others) if a <= last and first <= b and j != i)
        neighbors.append(tuple(conflicts))
    return neighbors
