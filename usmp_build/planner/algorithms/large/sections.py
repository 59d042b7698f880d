"""Sections of a timeline, and who is alive where; core/sections.cpp is the same in C++.

    offset ^    ______________
           |   |      2       |           A section begins with a birth that follows a death:
           |   |______________|           births  [0, 2]     0 and 1 are born in the first, 2 and 3 in the second
           |  ______   ___________        deaths  [0, 1]     0 is dead when the second begins
           | |__0___| |____3______|
           | |______1_______|             At some step of each, all that live in it are alive together.
           +-+------+-+----------------> step

Buffers are counted in the order of their births, so who is born in a range of sections is a range of buffers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from usmp_build.planner.memory.timeline import Array


@dataclass(frozen=True, slots=True)
class Sections:
    """Buffers in the order of their births; those four lists have an entry for each, the others for each section."""

    sizes: list[int]
    """Rounded up to a multiple of the least alignment."""
    alignments: list[int]
    firsts: list[int]
    """The first section that it is alive in."""
    lasts: list[int]
    births: list[int]
    """The first buffer that is born in it or later; and at the end, how many buffers there are."""
    deaths: list[int]
    """How many buffers died before it."""
    loads: list[int]
    """Bytes that are alive in it."""

    def alive(self, first: int, last: int) -> int:
        """Return how many are alive in some of these sections."""
        return self.births[last + 1] - self.deaths[first]

    def clip(self, first: int, last: int) -> tuple[int, int]:
        """Return what of a range there is."""
        return max(0, first), min(len(self.loads) - 1, last)


def make_sections(lower: Array, upper: Array, sizes: Array, alignments: Array) -> Sections:
    """Cut a timeline into sections; the arrays are sorted by `lower`."""
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
    """Return, of each buffer, the load of the fullest section that it lives in."""
    firsts, lasts = np.array(sections.firsts), np.array(sections.lasts)
    lengths = lasts - firsts + 1
    found = np.zeros(len(firsts), np.int64)
    highest = np.array(sections.loads, np.int64)  # of `width` sections, from each on
    width = 1
    while width <= len(highest):
        some = (width <= lengths) & (lengths < 2 * width)
        found[some] = np.maximum(highest[firsts[some]], highest[lasts[some] - width + 1])
        highest[:-width] = np.maximum(highest[:-width], highest[width:])
        width *= 2
    return found


class Alive:
    """Tells who is alive where: now and then it notes who is, and looks from there on.

    A note is made as soon as half of what there is to look at is dead: so all notes together are no longer than all
    buffers, and who looks for the living finds no more dead ones than living ones.
    """

    def __init__(self, sections: Sections) -> None:
        self._sections = sections
        self._notes: list[tuple[int, list[int]]] = [(0, [])]
        """A section, and who was alive in it and born before it."""
        self._note_of: list[int] = []
        for section, (born, dead) in enumerate(zip(sections.births, sections.deaths, strict=False)):
            noted, some = self._notes[-1]
            looked_at = len(some) + born - sections.births[noted]
            if looked_at >= 2 * (born - dead) and looked_at > 0:
                self._notes.append((section, self._carried(len(self._notes) - 1, section)))
            self._note_of.append(len(self._notes) - 1)

    def within(self, first: int, last: int) -> list[int]:
        """Return all that are alive in some of these sections."""
        births = self._sections.births
        return [*self._carried(self._note_of[first], first), *range(births[first], births[last + 1])]

    def _carried(self, note: int, section: int) -> list[int]:
        """Return who is alive in a section and born before it."""
        noted, some = self._notes[note]
        lasts, births = self._sections.lasts, self._sections.births
        found = [buffer for buffer in some if lasts[buffer] >= section]
        found += [buffer for buffer in range(births[noted], births[section]) if lasts[buffer] >= section]
        return found
