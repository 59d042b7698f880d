"""A strip: the buffers of one pool in the form that the search works on, as plain integers.

    offset ^    ______________
           |   |      b       |           sections:  0: a b     spans of a:  (0, 0, size of a)
           |   |______________|                      1: b c     spans of b:  (0, 1, size of b)
           |  __________  _______                               spans of c:  (1, 1, size of c)
           | |    a     ||   c   |
           +-+----------++-------+---> step

A *section* is a set of buffers that all conflict with each other, such as those alive at one step.  Where intervals are
known, sections follow the timeline, so that a buffer is in a range of them.  A *span* says in which sections a buffer
is, and how many bytes it adds there: any buffers of a section need at least the sum of what they add.  Bytes up to the
next buffer that alignment leaves empty count as well.

All bytes are counted in units of their greatest common divisor.  Pairs that are far enough apart at any offsets are
left out, and so are empty buffers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.core import NO_PLACE
from usmp_build.planner.algorithms.near import Near

Span = tuple[int, int, int]
"""`(first section, last section, units)`."""


@frozen
class Strip:
    """The buffers of one pool; every tuple has an entry for each buffer."""

    unit: int
    """Bytes of a unit."""
    members: tuple[int, ...]
    """Index of each buffer in the problem: the only thing that is not in units."""
    sizes: tuple[int, ...]
    alignments: tuple[int, ...]
    fixed: tuple[int, ...]
    """The fixed offset of a buffer; `NO_PLACE`: none."""
    near: Near
    """Its conflicts, in units."""
    spans: tuple[tuple[Span, ...], ...]
    """Ascending; at least one."""
    sections: int
    """How many there are."""
    linear: bool
    """Whether sections follow the timeline: then the strip can be split between sections that share no buffer."""
    ordered: bool
    """Whether distances allow no cycle of buffers: then some buffer without a fixed offset is above no other."""

    @property
    def shares_bytes(self) -> bool:
        """Whether two buffers without fixed offsets may overlap though they conflict."""
        near, sizes = self.near, np.array(self.sizes, np.int64)
        free = np.array([offset == NO_PLACE for offset in self.fixed], np.bool_)
        return bool((near.overlap(sizes) & free[near.ones] & free[near.others]).any())

    def backwards(self) -> Strip:
        """Return the strip with time reversed: the last buffer and the last section come first."""
        end = self.sections - 1
        spans = (tuple((end - stop, end - start, units) for start, stop, units in row[::-1]) for row in self.spans)
        return replace(
            self,
            members=self.members[::-1],
            sizes=self.sizes[::-1],
            alignments=self.alignments[::-1],
            fixed=self.fixed[::-1],
            near=self.near.backwards(),
            spans=tuple(spans)[::-1],
        )
