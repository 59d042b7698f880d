"""Which buffers conflict, and how far apart they must start: tables of pairs, from which searches take what they need.

    offset ^       _______
           |  ____|   1   |        one  other  above  below
           | | 0  |_______|          0    1      2      3
           +-+----+-------+->        1    0      3      2

Here 1 starts 2 bytes or more above 0, or 0 starts 3 or more above 1.  Long plans have a million, so they are arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from usmp_build.planner.algorithms.core import uncountable
from usmp_build.planner.memory.clique import clique_of
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.timeline import Array
from usmp_build.units import MAX_SUM

Neighbor = tuple[int, int, int]
"""Another buffer, and the least distances in bytes: its start above ours, ours above its."""


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Pairs in conflict, each from both sides, ascending by `ones`, then `others`; arrays of shape (pairs,)."""

    count: int
    """Of buffers."""
    ones: Array
    others: Array
    above: Array
    """The least distance from the start of one to that of the other, if that is above it."""
    below: Array
    """And from the start of the other, if that is below."""

    @property
    def starts(self) -> Array:
        """Where the pairs of each buffer begin, and where the last ones end."""
        return np.searchsorted(self.ones, np.arange(self.count + 1)).astype(np.int64)

    @property
    def triples(self) -> tuple[Array, Array]:
        """A list of neighbors for each buffer, as the core takes lists of triples."""
        return self.starts, np.stack((self.others, self.above, self.below), axis=1).reshape(-1)

    def where(self, kept: npt.NDArray[np.bool_]) -> Near:
        """Return the pairs for which an array of booleans says so."""
        return Near(self.count, self.ones[kept], self.others[kept], self.above[kept], self.below[kept])

    def overlap(self, sizes: Array) -> npt.NDArray[np.bool_]:
        """Tell of each pair whether the two may have bytes in common, where buffers have these sizes."""
        return (self.above < sizes[self.ones]) | (self.below < sizes[self.others])

    def in_units(self, unit: int) -> Near:
        """Return the pairs with distances in units of so many bytes."""
        return Near(self.count, self.ones, self.others, self.above // unit, self.below // unit)

    def backwards(self) -> Near:
        """Return the pairs of buffers that are numbered from the last one to the first."""
        ones, others = self.count - 1 - self.ones[::-1], self.count - 1 - self.others[::-1]
        return Near(self.count, ones, others, self.above[::-1], self.below[::-1])

    def rows(self) -> list[list[Neighbor]]:
        """Return the neighbors of each buffer, ascending."""
        starts = self.starts.tolist()
        pairs = [*zip(self.others.tolist(), self.above.tolist(), self.below.tolist(), strict=True)]
        return [pairs[start:stop] for start, stop in pairwise(starts)]


def near(problem: Problem, members: Sequence[int], *, only_listed: bool = False) -> Near:
    """Return the conflicts among these buffers, each by its place in `members`; without those of cliques if asked.

    Raises UsmpError where offsets of theirs may reach 2^62 bytes.
    """
    if (bytes_ := reach(problem, members)) > MAX_SUM:
        message = f"the offsets of {len(members):,} buffers may reach {bytes_:,} bytes"
        raise uncountable(f"{message}; at most {MAX_SUM:,} can be counted")
    lists = [() if only_listed and clique_of(problem, index) else problem.conflicts[index] for index in members]
    places = np.full(len(problem.buffers), -1, np.int64)
    places[[*members]] = range(len(members))
    ones = np.repeat(np.arange(len(members), dtype=np.int64), [len(each) for each in lists])
    others = places[np.fromiter(chain.from_iterable(lists), np.int64, len(ones))]
    keys = np.sort((ones * len(members) + others)[(others >= 0) & (others != ones)])
    ones, others = np.divmod(keys, max(1, len(members)))
    sizes = np.array([problem.buffers[index].size for index in members], np.int64)
    pairs = Near(len(members), ones, others, sizes[ones], sizes[others])
    _separate(pairs, keys, problem, places)
    return pairs


def _separate(pairs: Near, keys: Array, problem: Problem, places: Array) -> None:
    """Put in the distances that a problem states; `keys` of pairs are `one * count + other`."""
    stated = np.fromiter(chain.from_iterable(problem.separations), np.int64, 2 * len(problem.separations))
    lower, upper = places[stated.reshape(-1, 2).T]
    known = (lower >= 0) & (upper >= 0)
    lower, upper = lower[known], upper[known]
    distances = np.fromiter(problem.separations.values(), np.int64, len(problem.separations))[known]
    for column, one, other in ((pairs.above, lower, upper), (pairs.below, upper, lower)):
        wanted = one * pairs.count + other
        at = np.searchsorted(keys, wanted)
        in_conflict = np.append(keys, -1)[at] == wanted
        column[at[in_conflict]] = distances[in_conflict]


def reach(problem: Problem, members: Sequence[int]) -> int:
    """Return bytes that no buffer ends above, in whatever order they are stacked on each other and on fixed ones.

    Each is put at the start of a pool, or above one that is there, as far as it must, and is aligned.  No sum on the
    way is above that, either, nor below its negative.
    """
    buffers = [problem.buffers[index] for index in members]
    farthest = max(map(abs, problem.separations.values()), default=0)
    start = max((abs(buffer.offset or 0) for buffer in buffers), default=0)
    return start + sum(max(buffer.size, farthest) + buffer.alignment - 1 for buffer in buffers)
