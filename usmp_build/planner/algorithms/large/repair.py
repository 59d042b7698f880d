"""Repairs plans: searches again around each buffer that is too high; core/repair.cpp is the same in C++.

A core is a range of sections that contains a buffer above the target, and a margin.  If the search places all that is
alive there below the target, first fit places the buffers around it again.  If these do not end below the target, too,
all of that is undone.  Narrow margins are tried first, then wide ones.

The target is the greatest load.  Where that is not reached, targets between it and the peak are tried, and then all of
them again with more effort.
"""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.planner.algorithms.exact.search import search
from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.algorithms.exact.walk import Status
from usmp_build.planner.algorithms.large.cut import Cut, cut_out, make_strip
from usmp_build.planner.algorithms.large.first_fit import NOWHERE, FirstFit
from usmp_build.planner.algorithms.large.sections import Sections

_MARGINS = (8, 16, 32, 64, 128, 256)
"""Numbers of sections on both sides of a buffer that is too high which belong to its core."""
_FIRST_MARGINS = 4
"""How many of these margins are tried with the least effort; each further effort tries one more."""
_REACHES = (2, 8)
"""Where first fit makes room around a core: distances, as multiples of the margin."""
_CROWDED = 1000
"""Most buffers born in a core that is joined of overlapping ones."""
_MOST = 1500
"""Most buffers and obstacles of a search."""
_MOST_AROUND = 16 * _MOST
"""Most buffers visited to state a search."""
_LARGEST = 1 << 40
"""Bytes up to which sums over all buffers surely fit the compiled core's integers."""
_EFFORTS = 10
"""How many efforts are tried, each with four times as many nodes as the one before."""
_FINE = 1024
"""Targets between bound and peak are tried until the failed one and the peak differ by at most bound / `_FINE`."""
_AT_ONCE = 64
"""Sections and neighbors that cost a node as much as one visit of a buffer."""
_STATING = 32
"""Nodes that take as long as stating the search."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A target in bytes, an effort, and the extent of the core and what is around it, in sections."""

    target: int
    effort: int
    margin: int
    reach: int


class Repair:
    """The repair of one plan."""

    def __init__(self, sections: Sections, plan: FirstFit, work: int) -> None:
        """Begin with a plan in which all buffers are placed; `work` is the budget in visits."""
        self._sections = sections
        self._plan = plan
        self._limit = plan.work + work

    def run(self) -> None:
        """Lower the peak to the greatest load, or near it."""
        bound, highest = max(self._sections.loads), self._plan.peak()
        for effort in range(_EFFORTS):
            if highest <= bound or self._is_spent():
                return
            target = failed = bound
            while True:
                if not self._bring_below(target, effort):
                    failed = target
                highest = self._plan.peak()
                target = failed + (highest - failed) // 4
                if highest - failed <= bound // _FINE or self._is_spent():
                    break

    def _is_spent(self) -> bool:
        return self._plan.work >= self._limit

    def _bring_below(self, target: int, effort: int) -> bool:
        plan = self._plan
        high = [buffer for buffer in range(len(plan.offsets)) if plan.end(buffer) > target]
        for margin in _MARGINS[: _FIRST_MARGINS + effort]:
            for reach in _REACHES:
                for core in self._cores(high, margin):
                    if not self._is_spent():
                        self._relieve(core, _Attempt(target, effort, margin, reach * margin))
                high = [buffer for buffer in high if plan.end(buffer) > target]
        return not high

    def _cores(self, high: list[int], margin: int) -> list[tuple[int, int]]:
        sections = self._sections
        cores: list[tuple[int, int]] = []
        for buffer in high:
            first, last = sections.clip(sections.firsts[buffer] - margin, sections.lasts[buffer] + margin)
            if cores and first <= cores[-1][1]:
                begin, end = cores[-1]
                if sections.births[last + 1] - sections.births[begin] <= _CROWDED:
                    cores[-1] = (begin, max(end, last))
                    continue
            cores.append((first, last))
        return cores

    def _relieve(self, core: tuple[int, int], attempt: _Attempt) -> None:
        sections, plan = self._sections, self._plan
        around = sections.clip(core[0] - attempt.reach, core[1] + attempt.reach)
        if sections.alive(*around) > _MOST_AROUND:
            return
        plan.work += sections.alive(*around)
        cut = cut_out(sections, plan, core, around)
        if len(cut.members) + len(cut.fixed) > _MOST:
            return
        if all(plan.end(buffer) <= attempt.target for buffer in cut.members):
            return
        strip = make_strip(sections, cut, core)
        cost = _node_cost(strip)
        plan.work += _STATING * cost
        if sum(strip.sizes) + sum(strip.alignments) >= _LARGEST or self._is_spent():
            return
        nodes = min(len(strip.sizes) << 2 * attempt.effort, (self._limit - plan.work) // cost)
        answer = search(strip, attempt.target, nodes)
        plan.work += answer.nodes * cost + len(strip.sizes)
        if answer.status is Status.FITS:
            self._move(cut, answer.offsets, attempt.target)

    def _move(self, cut: Cut, offsets: tuple[int, ...], target: int) -> None:
        """Move members, then the ring; undo both if the ring does not end below the target."""
        plan = self._plan
        before = [(buffer, plan.offsets[buffer]) for buffer in cut.members + cut.ring]
        for buffer, offset in zip(cut.members, offsets, strict=False):
            plan.offsets[buffer] = offset
        if not self._put_back(cut.ring, target):
            for buffer, offset in before:
                plan.offsets[buffer] = offset

    def _put_back(self, ring: list[int], target: int) -> bool:
        plan = self._plan
        for buffer in ring:
            plan.offsets[buffer] = NOWHERE
        for buffer in sorted(ring, key=plan.turns.__getitem__):
            plan.offsets[buffer] = plan.least_free(buffer)
            if plan.end(buffer) > target or self._is_spent():
                return False
        return True


def _node_cost(strip: Strip) -> int:
    visited = zip(strip.neighbors, strip.spans, strict=True)
    return sum(1 + (len(neighbors) + last - first) // _AT_ONCE for neighbors, ((first, last, _),) in visited)
