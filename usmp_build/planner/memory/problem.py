"""A memory problem: which buffer goes into which pool, at which offset?

    offset
      ^        ________
      |       |   c    |            a and b are never alive together: they may share bytes.
      |  _____|________|____        a and c conflict, and so do b and c.
      | |  a  |   |   b     |
      +-+-----+---+---------+--> step
        0     2   4         7

Conflicts are given, not derived from intervals: models that run concurrently conflict although their steps are
apart.  Intervals are kept for bounds, for drawing, and for explaining.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from usmp_build.frozen import frozen

UNNAMED_POOL = "memory"
"""The name of the pool where a problem states none."""


@frozen
class Pool:
    """A budget of bytes."""

    name: str
    limit: int | None = None
    """Bytes that may be used; None means as many as needed."""


@frozen
class Buffer:
    """Bytes to be placed."""

    name: str
    size: int
    pools: tuple[int, ...]
    """Indices of the pools it may go to; at least one.  Costs say which are preferred; among equals, the first."""
    costs: tuple[int, ...] = ()
    """The cost of each of `pools`, in any unit; empty means all 0."""
    alignment: int = 1
    intervals: tuple[tuple[int, int], ...] = ()
    """Sorted half-open steps `[start, stop)` in which it holds data."""
    offset: int | None = None
    """The offset at which it must start, in whichever of its pools; None leaves that to the algorithm."""

    @property
    def end(self) -> int:
        """The least offset at which it can end, in bytes from the start of a pool."""
        return (self.offset or 0) + self.size

    @property
    def least_cost(self) -> int:
        """Its cost in its cheapest pool."""
        return min(self.costs, default=0)

    @property
    def cheapest_pools(self) -> tuple[int, ...]:
        """Those of `pools` that cost least, the most preferred one first."""
        if len(self.pools) == 1 or not self.costs:
            return self.pools
        return tuple(pool for pool in self.pools if self.cost_in(pool) == self.least_cost)

    def cost_in(self, pool: int) -> int:
        """Its cost in `pool`, one of `pools`."""
        return self.costs[self.pools.index(pool)] if self.costs else 0

    def pools_within(self, limits: Sequence[int | None]) -> tuple[int, ...]:
        """Return those of `pools` that it fits into by itself; `limits` has an entry for each pool, None: no limit."""
        sizes = ((pool, limits[pool]) for pool in self.pools)
        return tuple(pool for pool, limit in sizes if limit is None or self.end <= limit)


@frozen
class Problem:
    """Buffers, pools, and the pairs of buffers that may not overlap."""

    pools: tuple[Pool, ...]
    buffers: tuple[Buffer, ...]
    conflicts: tuple[Sequence[int], ...]
    """For each buffer the ascending indices of those it conflicts with: a tuple, or `clique.Others`.  Mutual."""
    separations: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """The minimum distance of `(below, above)` where it is not the size of the lower buffer: see `separation`."""
    heaviest: dict[tuple[int, ...], Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What `pressure` keeps: algorithms and proofs ask for the same bounds again and again."""

    @property
    def limits(self) -> tuple[int | None, ...]:
        """The limit of each pool; None: as many bytes as needed."""
        return tuple(pool.limit for pool in self.pools)

    def separation(self, below: int, above: int) -> int:
        """Return the least distance, in bytes, from the start of `below` to that of `above` when placed above it.

        Two buffers a and b in conflict and in one pool obey `offset[b] - offset[a] >= separation(a, b)` or
        `offset[a] - offset[b] >= separation(b, a)`.  It is the size of the lower buffer, or less, 0 or negative
        where a kernel may write over what it has already read.
        """
        return self.separations.get((below, above), self.buffers[below].size)
