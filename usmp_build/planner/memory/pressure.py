"""The heaviest set of buffers that must lie side by side: a lower bound of every pool that holds them.

Buffers alive at one step conflict with each other, so the sum of their sizes is such a bound; the largest is called
max-live, or load, in the literature on dynamic storage allocation.

    step         0    1    2    3    4
    a 100 bytes  |###################|
    b  40 bytes       |#########|
    c  45 bytes                 |#########|
    alive       100  140  140  145   45       pressure: 145 bytes, of a and c, at step 3

This module takes more than sizes and steps into account:

- alignment: when all buffers start at multiples of u, all but the topmost fill whole units of u bytes;
- separations: small groups of buffers that may overlap count what they take in the best of all orders; in larger
  groups, each pair counts as if it overlapped as far as allowed;
- buffers that conflict though they are never alive at one step, because their models may run at the same time.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import gcd

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.planner.memory.clique import is_clique
from usmp_build.planner.memory.components import components
from usmp_build.planner.memory.extent import least_extent
from usmp_build.planner.memory.problem import Problem
from usmp_build.units import align_up


@frozen
class Witness:
    """Buffers that do not fit into fewer than `bytes` bytes, however they are placed."""

    bytes: int = 0
    buffers: tuple[int, ...] = ()
    """Indices, largest buffer first."""
    step: int | None = None
    """Where all of them are alive; None when there is no such step, or it is not known."""


def pressure(problem: Problem, members: Iterable[int], pools: int = 1) -> Witness:
    """Return the members that need most bytes together, summed over the peaks of `pools` pools, in any plan.

    The set is the heaviest that is alive at one step, then the heaviest among what conflicts with all of it, and so
    on.  Heavier sets may exist where models run concurrently, and in problems without intervals.
    """
    scales = _Scales(problem, pools)
    known: dict[tuple[int, ...], Witness] = problem.heaviest
    best = Witness()
    for component in components(problem, members):
        key = pools, *component
        if key not in known:
            known[key] = max(_heavy_sets(problem, scales, component), key=_weight)
        best = max(best, known[key], key=_weight)
    return scales.thinned(best)


def _heavy_sets(problem: Problem, scales: _Scales, component: Sequence[int]) -> Iterator[Witness]:
    """Yield sets of buffers of a component, the heaviest one among them; the first is empty."""
    yield Witness()
    cliques = list(_side_by_side(problem, scales, component))
    if cliques:
        yield cliques[0]
        yield scales.weigh((index for clique in cliques for index in clique.buffers), None)
        yield from scales.recurring(component)


def _weight(witness: Witness) -> tuple[int, bool, int]:
    """Sort key: most bytes; among equals those with a step, then the earliest."""
    return witness.bytes, witness.step is not None, -(witness.step or 0)


def _side_by_side(problem: Problem, scales: _Scales, component: Iterable[int]) -> Iterator[Witness]:
    """Yield sets of buffers that all conflict with each other, the heaviest first."""
    left = set(component)
    while left:
        heaviest = scales.heaviest_live(left)
        if not heaviest.buffers:
            return  # only empty buffers are left
        yield heaviest
        left = left.difference(heaviest.buffers)
        if not is_clique(problem, heaviest.buffers):
            left = left.intersection(*(problem.conflicts[index] for index in heaviest.buffers))


class _Scales:
    """Computes, and remembers, the bytes that sets of conflicting buffers need."""

    def __init__(self, problem: Problem, pools: int) -> None:
        self._problem = problem
        self._pools = pools
        self._extents: dict[tuple[int, ...], int | None] = {}
        self._weighed: dict[tuple[tuple[int, ...], int | None], Witness] = {}
        self._conflicting: dict[int, frozenset[int]] = {}
        self._loose: dict[int, set[int]] = defaultdict(set)
        for a, b in problem.separations:
            self._loose[a].add(b)
            self._loose[b].add(a)

    def weigh(self, buffers: Iterable[int], step: int | None, enough: int = 0) -> Witness:
        """Return the bytes that these buffers need in every plan, and those of them that prove it.

        It may prove less than possible where that is no more than `enough` bytes.
        """
        key = tuple(buffers), step
        if key in self._weighed:  # where models run concurrently, each of them meets the same sets
            return self._weighed[key]
        simple = self._by_pairs(*key)
        if self._pools == 1 and self._is_loose(key[0]):
            enough = max(enough, simple.bytes)
            by_orders = self._by_orders(*key, enough)
            if by_orders.bytes <= enough:
                return simple
            simple = by_orders
        return self._weighed.setdefault(key, simple)

    def _by_orders(self, buffers: Iterable[int], step: int | None, enough: int) -> Witness:
        """Weigh by trying orders, for groups of buffers that may share bytes with each other.

        If the bytes of one group are removed, what is above them can move down and still keeps all distances.  So
        groups together need the sum of what each needs by itself.
        """
        buffers_ = self._problem.buffers
        chosen: list[int] = []
        for index in sorted(buffers, key=lambda index: (-buffers_[index].size, buffers_[index].name)):
            if buffers_[index].size and self._conflicts(index).issuperset(chosen):
                chosen.append(index)
        return Witness(self._in_groups(chosen, enough), tuple(chosen), step)

    def _conflicts(self, index: int) -> frozenset[int]:
        """Return the buffers that one conflicts with."""
        if index not in self._conflicting:
            self._conflicting[index] = frozenset(self._problem.conflicts[index])
        return self._conflicting[index]

    def thinned(self, witness: Witness) -> Witness:
        """Return a witness of no fewer bytes without buffers that prove nothing, where orders prove it."""
        chosen = witness.buffers
        if self._pools > 1 or not self._is_loose(chosen) or len(chosen) > effort.WITNESS_BUFFERS:
            return witness
        total = self._in_groups(chosen)
        if total < witness.bytes:
            return witness
        fewer = self._without_idle(chosen, total)
        return Witness(self._in_groups(fewer), tuple(fewer), witness.step)

    def _is_loose(self, buffers: Iterable[int]) -> bool:
        """Whether any two of these buffers may share bytes."""
        inside = set(buffers)
        return any(not inside.isdisjoint(self._loose.get(index, ())) for index in inside)

    def _without_idle(self, chosen: Sequence[int], total: int) -> list[int]:
        """Remove buffers, from the last, as long as the rest needs `total` bytes, as all of them do."""
        unit, slack = self._unit(chosen), self._slack(chosen)
        are_alike = all(self._problem.buffers[index].alignment == unit for index in chosen)
        groups = {index: group for group in _groups(chosen, self._loose) for index in group}
        left = list(chosen)
        for index in reversed(chosen):
            group = groups[index]
            rest = [other for other in group if other != index]
            needed = slack + (self._stacked(rest, unit) or 0)
            if are_alike and needed < (self._extent(tuple(group), unit) or 0):
                continue  # the other groups need no more than before
            fewer = [other for other in left if other != index]
            if self._loose[index] and self._in_groups(fewer) >= total:
                left = fewer
        return left

    def _in_groups(self, chosen: Sequence[int], enough: int = 0) -> int:
        """Return the bytes that conflicting buffers need, 0 if unknown; all but the topmost fill whole units.

        They may need less where that is no more than `enough`.
        """
        slack = self._slack(chosen)
        total = self._stacked(chosen, self._unit(chosen), enough + slack)
        return 0 if total is None else total - slack

    def _unit(self, buffers: Iterable[int]) -> int:
        """Return the largest unit, in bytes, such that all of them start at its multiples."""
        return gcd(*(self._problem.buffers[index].alignment for index in buffers))

    def _slack(self, buffers: Sequence[int]) -> int:
        """Return the most bytes by which a buffer falls short of whole units."""
        unit, all_buffers = self._unit(buffers), self._problem.buffers
        return max([0, *(align_up(all_buffers[i].size, unit) - all_buffers[i].size for i in buffers)])

    def _stacked(self, buffers: Sequence[int], unit: int, enough: int = 0) -> int | None:
        """Return the bytes that groups need on top of each other, in whole units; None when that is unknown."""
        total = sum(align_up(self._problem.buffers[index].size, unit) for index in buffers)  # of groups not yet seen
        for group in _groups(buffers, self._loose):
            total -= sum(align_up(self._problem.buffers[index].size, unit) for index in group)
            extent = self._extent(tuple(group), unit, enough - total)
            if extent is None:
                return None
            total += extent
        return total

    def _extent(self, group: tuple[int, ...], unit: int, enough: int = 0) -> int | None:
        """Return the bytes that a group needs, in whole units; None when that is unknown."""
        key = (unit, *group)
        if key in self._extents:
            return self._extents[key]
        buffers = self._problem.buffers
        group = tuple(sorted(group, key=lambda index: (-buffers[index].size, buffers[index].name)))
        sizes = [align_up(self._problem.buffers[index].size, unit) for index in group]
        distance = self._problem.separation
        extent = least_extent(sizes, lambda a, b: align_up(distance(group[a], group[b]), unit), enough)
        if extent is None or extent > enough:
            self._extents[key] = extent
        return extent

    def _by_pairs(self, buffers: Iterable[int], step: int | None) -> Witness:
        """Weigh by what pairs may share.

        The union of byte ranges is at least their sum less what each pair of them shares.  That holds for any
        subset, so a buffer is left out if it may be covered by larger ones.  All ranges start at multiples of `unit`;
        they are rounded up to it, and in the end the topmost range of each pool is rounded down again.
        """
        buffers_ = self._problem.buffers
        largest_first = sorted(buffers, key=lambda index: (-buffers_[index].size, buffers_[index].name))
        unit = self._unit(largest_first)
        all_conflict = is_clique(self._problem, largest_first)
        total = 0
        chosen: dict[int, int] = {}
        for index in largest_first:
            if all_conflict or self._conflicts(index).issuperset(chosen):
                rounded = align_up(buffers_[index].size, unit)
                loose = chosen.keys() & self._loose[index]
                gain = rounded - sum(self._shared(index, other, unit) for other in loose)
                if gain > 0:
                    chosen[index] = rounded
                    total += gain
        slack = heapq.nlargest(self._pools, (rounded - buffers_[index].size for index, rounded in chosen.items()))
        return Witness(total - sum(slack), tuple(chosen), step)

    def _shared(self, a: int, b: int, unit: int) -> int:
        """Return how many bytes, in whole units, two conflicting buffers may have in common."""
        size_a, size_b = (align_up(self._problem.buffers[index].size, unit) for index in (a, b))
        a_below = size_a - align_up(self._problem.separation(a, b), unit)
        b_below = size_b - align_up(self._problem.separation(b, a), unit)
        return max(0, min(size_a, size_b, max(a_below, b_below)))

    def recurring(self, members: Collection[int]) -> Iterator[Witness]:
        """Yield sets of buffers that all conflict though they share no step: a few have several intervals."""
        buffers_ = self._problem.buffers
        if all(len(buffers_[index].intervals) <= 1 for index in members):
            return
        for _, _, alive in self._fullest_steps(members)[: effort.RECURRING_STEPS]:
            others = set(members).intersection(*(self._problem.conflicts[index] for index in alive))
            yield self.weigh((*alive, *others), None)

    def heaviest_live(self, members: Collection[int]) -> Witness:
        """Return the members that weigh most at one step; a buffer without intervals has a step of its own."""
        buffers_ = self._problem.buffers
        timeless = [index for index in members if not buffers_[index].intervals]
        largest = max(timeless, key=lambda index: (buffers_[index].size, buffers_[index].name), default=None)
        best = Witness() if largest is None else self.weigh([largest], None)
        for at_most, step, alive in self._fullest_steps(members):
            if at_most <= best.bytes:
                break
            best = max(best, self.weigh(alive, step, best.bytes), key=lambda witness: witness.bytes)
        return best

    def _fullest_steps(self, members: Collection[int]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Return the steps with most bytes alive: an upper bound of their weight, the step, and the buffers alive."""
        changes: dict[int, int] = defaultdict(int)
        for index in members:
            buffer = self._problem.buffers[index]
            for start, stop in buffer.intervals:
                changes[start] += align_up(buffer.size, buffer.alignment)
                changes[stop] -= align_up(buffer.size, buffer.alignment)
        steps = sorted(changes)
        loads = accumulate(changes[step] for step in steps)
        pairs = zip(loads, steps, strict=True)
        fullest = heapq.nlargest(effort.FULLEST_STEPS, pairs, key=lambda pair: (pair[0], -pair[1]))
        alive = self._alive_at(sorted(step for _, step in fullest), members)
        return [(load, step, tuple(alive[step])) for load, step in fullest]

    def _alive_at(self, steps: Sequence[int], members: Iterable[int]) -> dict[int, list[int]]:
        alive: dict[int, list[int]] = {step: [] for step in steps}
        for index in members:
            for start, stop in self._problem.buffers[index].intervals:
                for step in steps[bisect_left(steps, start) : bisect_left(steps, stop)]:
                    alive[step].append(index)
        return alive


def _groups(members: Sequence[int], near: Mapping[int, Collection[int]]) -> list[list[int]]:
    """Split buffers so that no two groups may share bytes."""
    left = set(members)
    groups = []
    for first in members:
        if first in left:
            group = [first]
            left.remove(first)
            for index in group:  # grows while it is walked
                others = left.intersection(near[index])
                group += others
                left -= others
            groups.append(sorted(group))
    return groups
