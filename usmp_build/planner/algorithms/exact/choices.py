"""Choices of pools: the problem without offsets, as the search over assignments sees it.

    section      0        1        2            room of a limited pool: units that are free in each section
    a  3 units   |########|########|            a buffer in that pool takes its units of each of its sections
    b  2 units            |########|########|   (see `strip`: buffers of a section lie side by side)

What fits side by side in every section may still not fit into the pool, but what does not, never does.  So this is a
relaxation: no plan costs less than the cheapest assignment that leaves no section short of room.

    for each limited pool p and section s:      sum of units of the items that are in p and in s  <=  room of p
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import gcd

from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.exact.narrow import narrowed
from usmp_build.planner.algorithms.exact.sections import make_strip
from usmp_build.planner.algorithms.exact.strip import Span
from usmp_build.planner.memory.problem import Buffer, Problem


@frozen
class Choices:
    """A set of buffers, called items here and identified by position; every tuple has an entry for each."""

    members: tuple[int, ...]
    """Index of the buffer in the problem."""
    pools: tuple[tuple[int, ...], ...]
    """Indices of the pools that it can be in, cheapest first; at least one."""
    costs: tuple[tuple[int, ...], ...]
    """The cost of each of `pools`."""
    spans: tuple[tuple[Span, ...], ...]
    """Which sections it is in; none for a buffer that takes no room."""
    sections: int
    """How many there are."""
    unit: int
    """Bytes of a unit."""
    whole: bool
    """Whether buffers end at whole units, so that the rest of a limit after its last whole unit is useless."""

    def room(self, limit: int) -> int:
        """Return the units that buffers can take of each section of a pool with this limit in bytes."""
        return limit // self.unit if self.whole else -(-limit // self.unit)

    @property
    def least(self) -> int:
        """The cost if every item were in its cheapest pool."""
        return sum(costs[0] for costs in self.costs)

    @property
    def grain(self) -> int:
        """The costs of any two assignments differ by a multiple of this; 0 if all are the same."""
        return gcd(*(cost - costs[0] for costs in self.costs for cost in costs))

    def possible(self, cost: int) -> int:
        """Return the least cost of at least `cost` that an assignment can have, according to `grain`."""
        base, grain = self.least, self.grain
        return base - (base - cost) // grain * grain if grain and cost > base else base

    def subset(self, items: Sequence[int], first: int, stop: int) -> Choices:
        """Return the choices of a subset of items, which are in the sections [first, stop)."""
        return replace(
            self,
            members=tuple(self.members[item] for item in items),
            pools=tuple(self.pools[item] for item in items),
            costs=tuple(self.costs[item] for item in items),
            spans=tuple(tuple((a - first, b - first, units) for a, b, units in self.spans[item]) for item in items),
            sections=stop - first,
        )

    def where(self, chosen: Sequence[int]) -> tuple[int, ...]:
        """Return the pool of each item, given which of its pools it takes."""
        return tuple(pools[which] for pools, which in zip(self.pools, chosen, strict=True))

    def cost(self, where: Sequence[int]) -> int:
        """Return the cost of assigning items to these pools."""
        return sum(self.costs[item][self.pools[item].index(pool)] for item, pool in enumerate(where))


def within_reach(problem: Problem) -> Problem:
    """Remove the pools that a buffer does not fit into by itself, and sort the others by cost, the cheapest first.

    Pools of equal cost keep their order.  A buffer may be left without a pool.
    """
    limits = problem.limits
    return replace(problem, buffers=tuple(_within_reach(buffer, limits) for buffer in problem.buffers))


def _within_reach(buffer: Buffer, limits: Sequence[int | None]) -> Buffer:
    offset = buffer.offset or 0
    offset_is_valid = offset >= 0 and offset % buffer.alignment == 0
    kept = sorted(dict.fromkeys(buffer.pools_within(limits)) if offset_is_valid else (), key=buffer.cost_in)
    return replace(buffer, pools=tuple(kept), costs=tuple(map(buffer.cost_in, kept)))


def choices(problem: Problem, members: Sequence[int]) -> Choices:
    """Return the choices of these buffers, whose pools are those of `within_reach`."""
    strip = make_strip(problem, members)
    kept = [*strip.members, *sorted(set(members).difference(strip.members))]
    common = gcd(*(problem.buffers[index].alignment for index in strip.members))
    coarse = common > strip.unit  # then everything starts at whole units, but does not end there
    unit = common if coarse else strip.unit
    placed = strip.spans if strip.linear else narrowed(strip.spans, strip.sections)
    rows = zip(strip.members, placed, strip.sizes, strict=True)
    spans: Mapping[int, tuple[Span, ...]] = {
        index: _in_units(strip_spans, size, strip.unit, unit) for index, strip_spans, size in rows
    }
    return Choices(
        members=tuple(kept),
        pools=tuple(problem.buffers[index].pools for index in kept),
        costs=tuple(problem.buffers[index].costs for index in kept),
        spans=tuple(spans.get(index, ()) for index in kept),
        sections=strip.sections,
        unit=unit,
        whole=not coarse,
    )


def _in_units(spans: Sequence[Span], size: int, fine: int, unit: int) -> tuple[Span, ...]:
    """Count spans in larger units, rounded up: the next buffer above starts at a whole unit.

    What a buffer takes beyond its size does not count, for it may be the topmost one.  What is left of a buffer that
    shares bytes is rounded down, for the others were rounded up.
    """
    counted = ((a, b, -(-size * fine // unit) if units >= size else units * fine // unit) for a, b, units in spans)
    return tuple(span for span in counted if span[2])
