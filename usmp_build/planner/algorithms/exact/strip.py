"""One pool's buffers in the form that the search works on: integers in arrays, and nothing else.

    offset ^    ______________
           |   |      b       |           sections:  0: a b     spans of a:  (0, 0, size of a)
           |   |______________|                      1: b c     spans of b:  (0, 1, size of b)
           |  __________  _______                               spans of c:  (1, 1, size of c)
           | |    a     ||   c   |
           +-+----------++-------+---> step

A *section* is a set of buffers that all conflict with each other.  Buffers that are alive at one step are one; where
intervals are known, sections follow the timeline, so that a buffer is in a range of them.  A *span* says in which
sections a buffer is, and how many bytes it adds there: any buffers of a section need as many as they add together.
Where alignment keeps the next buffer further away, those bytes count as well.

All bytes are counted in units of their greatest common divisor.  Pairs that any two offsets keep apart are left out,
and so are buffers of no bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Strip:
    """What one pool must hold; every tuple has an entry for each buffer."""

    unit: int
    """Bytes of a unit."""
    members: tuple[int, ...]
    """Index of each buffer in the problem: the only thing that is not in units."""
    sizes: tuple[int, ...]
    alignments: tuple[int, ...]
    fixed: tuple[int, ...]
    """Where a buffer must be; -1 where that is free."""
    neighbors: tuple[tuple[tuple[int, int, int], ...], ...]
    """`(other, above, below)`: `other` starts at least `above` behind this buffer, or this one at least `below` behind
    it.  Ascending by `other`."""
    spans: tuple[tuple[tuple[int, int, int], ...], ...]
    """`(first section, last section, units)`, ascending; at least one."""
    sections: int
    """How many there are."""
    linear: bool
    """Whether sections follow the timeline: then the strip falls apart where no buffer is in both of two neighbors."""
    ordered: bool
    """Whether "behind" never goes round in a circle: some buffer without a fixed offset is then behind no other."""

    def backwards(self) -> Strip:
        """Return the same with time running backwards: the last buffer and the last section are the first."""
        last, end = len(self.sizes) - 1, self.sections - 1
        near = (tuple((last - other, above, below) for other, above, below in some[::-1]) for some in self.neighbors)
        spans = (tuple((end - stop, end - start, units) for start, stop, units in some[::-1]) for some in self.spans)
        return replace(
            self,
            members=self.members[::-1],
            sizes=self.sizes[::-1],
            alignments=self.alignments[::-1],
            fixed=self.fixed[::-1],
            neighbors=tuple(near)[::-1],
            spans=tuple(spans)[::-1],
        )
