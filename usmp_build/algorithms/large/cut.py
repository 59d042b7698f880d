"""What is cut out of a plan to be searched anew; core/cut.cpp is the same in C++.

    offset ^    :     |  core   |      :
           |    : rr  |mmmmm  mm|   rr :         m  members: alive in the core; the search places them
           |    :rrr  mmmmmm    |   rrr:         r  the ring: first fit places them again, around the members
           |  ff:fffff|     mmmmmm   ff:ffff     f  fixed: those that live beyond all that is cut out stay
           +----:-----+---------+------:--->

Members that end below the target, and then the ring below it as well, are an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from usmp_build.algorithms.exact.strip import Strip
from usmp_build.algorithms.large.first_fit import NOWHERE
from usmp_build.algorithms.large.sections import Alive, Sections


@dataclass(frozen=True, slots=True)
class Cut:
    """The buffers around a core."""

    members: list[int]
    ring: list[int]
    fixed: list[int]
    """Only those that may meet members."""


def cut_out(sections: Sections, alive: Alive, core: tuple[int, int], around: tuple[int, int]) -> Cut:
    """Cut out what is alive in a core and nowhere beyond `around`, which contains it."""
    cut = Cut([], [], [])
    low, high = core  # where members are alive
    for buffer in alive.within(*around):
        first, last = sections.firsts[buffer], sections.lasts[buffer]
        if first < around[0] or around[1] < last:
            cut.fixed.append(buffer)
        elif first <= core[1] and core[0] <= last:
            cut.members.append(buffer)
            low, high = min(low, first), max(high, last)
        else:
            cut.ring.append(buffer)
    cut.fixed[:] = [buffer for buffer in cut.fixed if sections.firsts[buffer] <= high and low <= sections.lasts[buffer]]
    return cut


def make_strip(sections: Sections, offsets: Sequence[int], cut: Cut, core: tuple[int, int]) -> Strip:
    """Ask for places of the members."""
    buffers = cut.members + cut.fixed
    spans = []
    for buffer in buffers:
        first, last = max(sections.firsts[buffer], core[0]), min(sections.lasts[buffer], core[1])
        spans.append(((first - core[0], last - core[0], sections.sizes[buffer]) if first <= last else (0, 0, 0),))
    return Strip(
        unit=1,
        members=tuple(buffers),
        sizes=tuple(sections.sizes[buffer] for buffer in buffers),
        alignments=tuple(sections.alignments[buffer] for buffer in buffers),
        fixed=(*([NOWHERE] * len(cut.members)), *(offsets[buffer] for buffer in cut.fixed)),
        neighbors=tuple(_neighbors(sections, buffers, len(cut.members))),
        spans=tuple(spans),
        sections=core[1] - core[0] + 1,
        linear=True,
        ordered=True,
    )


def _neighbors(sections: Sections, buffers: Sequence[int], members: int) -> list[tuple[tuple[int, int, int], ...]]:
    """Return conflicts of members, which come first, with each other and with what stays."""
    lives = [(sections.firsts[buffer], sections.lasts[buffer], sections.sizes[buffer]) for buffer in buffers]
    found = []
    for i, (first, last, size) in enumerate(lives):
        others = lives if i < members else lives[:members]
        some = ((j, size, above) for j, (a, b, above) in enumerate(others) if a <= last and first <= b and j != i)
        found.append(tuple(some))
    return found
