"""Sections of a timeline, and the buffers alive in each; core/sections.cpp is the same in C++.

    offset ^    ______________
           |   |      2       |           A section begins with a birth that follows a death:
          |   |______________|           births  [0, 2]     0 and 1 are born in the first, 2 and 3 in the second
           |  ______   ___________        deaths  [0, 1]     0 is dead when the second begins
           | |__0___| |____3______|
           | |______1_______|             At some step of each, all that live in it are alive together.
           +-+------+-+----------------> step

Buffers are numbered in the order of their births, so the buffers born in a range of sections are a range of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from usmp_build.planner.memory.timeline import Array


@dataclass(frozen=True, slots=True)
class Sections:
    """Buffers in the order of their births.  Four lists have an entry for each buffer, the others for each section."""

    sizes: list[int]
    """Rounded up to a multiple of the least alignment."""
    alignments: list[int]
    firsts: list[int]
    """The first section that it is alive in."""
    lasts: list[int]
    births: list[int]
    """The first buffer that is born in it or later; the last entry is the number of buffers."""
    deaths: list[int]
    """How many buffers died before it."""
    loads: list[int]
    """Bytes alive in it."""

    def alive(self, first: int, last: int) -> int:
        """Return how many buffers are alive in any of the sections `first` to `last`."""
        return self.births[last + 1] - self.deaths[first]

    def clip(self, first: int, last: int) -> tuple[int, int]:
        """Return the part of a range of sections that exists."""
        return max(0, first), min(len(self.loads) - 1, last)


def make_sections(lower: Array, upper: Array, sizes: Array, alignments: Array) -> Sections:
    """Divide a timeline into sections; the arrays, of shape (buffers,), are sorted by `lower`."""
    dead = np.searchsorted(np.sort(upper), lower, side="right")
    begins = np.diff(dead, prepend=-1) > 0
    firsts = np.cumsum(begins) - 1
    lasts = firsts[np.searchsorted(lower, upper, side="left") - 1]
    births = np.flatnonzero(begins)
    changes = np.zeros(len(births) + 1, np.int64)
    np.add.at(changes, firsts, sizes)
    np.subtract.at(changes, lasts + 1, sizes)
    return Sections(
        sizes.tolist(),
        alignments.tolist(),
        firsts.tolist(),
        lasts.tolist(),
        [*births.tolist(), len(lower)],
        dead[births].tolist(),
        np.cumsum(changes)[:-1].tolist(),
    )


def fullest(sections: Sections) -> Array:
    """Return for each buffer the load of the fullest section in which it is alive, shape (buffers,), in bytes."""
    firsts, lasts = np.array(sections.firsts), np.array(sections.lasts)
    lengths = lasts - firsts + 1
    loads = np.zeros(len(firsts), np.int64)
    highest = np.array(sections.loads, np.int64)  # of the `width` sections that begin at each
    width = 1
    while width <= len(highest):
        mask = (width <= lengths) & (lengths < 2 * width)
        loads[mask] = np.maximum(highest[firsts[mask]], highest[lasts[mask] - width + 1])
        highest[:-width] = np.maximum(highest[:-width], highest[width:])
        width *= 2
    return loads


class Alive:
    """An index of the buffers alive in each section: snapshots, from which a query walks forward.

    A snapshot is made as soon as half of the buffers that a query would visit are dead: so all snapshots together are
    no longer than the list of buffers, and a query visits no more dead buffers than live ones.
    """

    def __init__(self, sections: Sections) -> None:
        self._sections = sections
        self._snapshots: list[tuple[int, list[int]]] = [(0, [])]
        """Section, and the buffers alive in it that were born before it."""
        self._snapshot_of: list[int] = []
        for section, (born, dead) in enumerate(zip(sections.births, sections.deaths, strict=False)):
            snapshot_section, alive = self._snapshots[-1]
            visited = len(alive) + born - sections.births[snapshot_section]
            if visited >= 2 * (born - dead) and visited > 0:
                self._snapshots.append((section, self._carried(len(self._snapshots) - 1, section)))
            self._snapshot_of.append(len(self._snapshots) - 1)

    def within(self, first: int, last: int) -> list[int]:
        """Return the buffers alive in any of the sections `first` to `last`."""
        births = self._sections.births
        return [*self._carried(self._snapshot_of[first], first), *range(births[first], births[last + 1])]

    def _carried(self, snapshot: int, section: int) -> list[int]:
        """Return the buffers alive in a section that were born before it, starting from a snapshot."""
        snapshot_section, alive = self._snapshots[snapshot]
        lasts, births = self._sections.lasts, self._sections.births
        carried = [buffer for buffer in alive if lasts[buffer] >= section]
        carried += [buffer for buffer in range(births[snapshot_section], births[section]) if lasts[buffer] >= section]
        return carried
