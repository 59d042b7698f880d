"""Move what is too high: search anew around each such spot; core/repair.cpp is the same in C++.

A core is a range of sections with something too high in it, and a margin.  If the search finds places below the target
for all that is alive there, first fit places those again that live near it only.  If that is not below the target as
well, nothing has happened.  Narrow margins are tried first, then wide ones.

The target is the greatest load.  Where that is not reached, a peak between is aimed at, and then all is tried again
with more effort.
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
"""Sections around what is too high that belong to a core."""
_FIRST_MARGINS = 4
"""How many of them are tried with the least effort; with each further one, one more."""
_REACHES = (2, 8)
"""Margins around a core in which first fit makes room."""
_CROWDED = 1000
"""Cores that overlap are one, unless more buffers than that are born in them."""
_MOST = 1500
"""Buffers of a search, and obstacles."""
_MOST_AROUND = 16 * _MOST
"""Buffers that are looked at to state it."""
_LARGEST = 1 << 40
"""Bytes with which sums of all buffers surely fit the core's integers."""
_EFFORTS = 10
"""Each with four times as many nodes as the one before."""
_FINE = 1024
"""A peak within this part of the bound is low enough to try for the bound itself."""
_AT_ONCE = 64
"""Sections and neighbors that count as much as a buffer: a node looks at them, but quickly."""
_STATING = 32
"""Nodes that take as long as stating what is searched."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """How far to go around what is too high, and how long to search."""

    target: int
    effort: int
    margin: int
    reach: int


class Repair:
    """Repairs a plan."""

    def __init__(self, sections: Sections, plan: FirstFit, work: int) -> None:
        """Begin with a plan in which all have a place; `work` is how much may be looked at."""
        self._sections = sections
        self._plan = plan
        self._limit = plan.work + work

    def run(self) -> None:
        """Bring the peak down to the greatest load, or near it."""
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
        found: list[tuple[int, int]] = []
        for buffer in high:
            first, last = sections.clip(sections.firsts[buffer] - margin, sections.lasts[buffer] + margin)
            if found and first <= found[-1][1]:
                begin, end = found[-1]
                if sections.births[last + 1] - sections.births[begin] <= _CROWDED:
                    found[-1] = (begin, max(end, last))
                    continue
            found.append((first, last))
        return found

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
        """Move members, and then the ring; or nothing."""
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
    """Return how much a node of the search looks at."""
    looked_at = zip(strip.neighbors, strip.spans, strict=True)
    return sum(1 + (len(neighbors) + last - first) // _AT_ONCE for neighbors, ((first, last, _),) in looked_at)
