"""Remembers which sets of buffers fit into one pool, at which offsets, and which do not.

A set that was proven not to fit into some number of bytes is a no-good.  A few more searches make it as small as they
can, for a smaller one rules out more:

    a b c d e   do not fit into 9 bytes
    a b   d e   do not either: c is left out
      b   d e   fit: a stays
    a b   d     do not fit: {a, b, d} is the no-good

A set that was given up counts as a no-good, too, until `forget_unproven`; but it proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

from usmp_build.planner.algorithms.exact.no_goods import NEVER, NoGood
from usmp_build.planner.algorithms.exact.searcher import Searcher
from usmp_build.planner.algorithms.exact.sections import make_strip
from usmp_build.planner.algorithms.exact.walks import Status
from usmp_build.planner.algorithms.first_fit import first_fit
from usmp_build.planner.algorithms.greedy import by_size
from usmp_build.planner.memory.components import components
from usmp_build.planner.memory.problem import Pool, Problem

_SHORTER = 32
"""Nodes for each buffer of a no-good that may be spent to make it smaller."""
_PREPARATION = 4
"""Buffers that take as long to prepare for a search as one node."""


@dataclass(slots=True)
class _Packing:
    """What is known of one component."""

    bound: int = 0
    """Bytes that it needs, proven."""
    offsets: Mapping[int, int] | None = None
    peak: int = 0
    """The peak of `offsets`, in bytes."""
    tried: dict[int, int] = field(default_factory=dict)
    """Limit in bytes → nodes of a search that gave up."""


class Packings:
    """What is known of sets of buffers of one problem."""

    def __init__(self, problem: Problem, members: Iterable[int]) -> None:
        self._problem = problem
        self._by_component: dict[frozenset[int], _Packing] = {}
        self.nodes = 0
        """The work of all searches."""
        self.no_goods = [NoGood(pair, NEVER, proven=True) for pair in _clashes(problem, members)]

    def fit(self, members: Iterable[int], limit: int, nodes: int) -> Status:
        """Decide whether a pool of `limit` bytes holds these buffers; give up after `nodes` nodes for each component.

        What does not fit becomes a no-good.
        """
        worst = Status.FITS
        for component in components(self._problem, members):
            status = self._fit(frozenset(component), limit, nodes)
            if status is Status.IMPOSSIBLE:
                self._learn(component, limit, nodes)
                return status
            if status is Status.UNKNOWN:
                self.no_goods.append(NoGood(frozenset(component), limit + 1, proven=False))
                worst = status
        return worst

    def forget_unproven(self) -> None:
        """Forget no-goods that are not proven: there is budget to search them again."""
        self.no_goods = [no_good for no_good in self.no_goods if no_good.proven]

    def offsets(self, members: Iterable[int]) -> dict[int, int] | None:
        """Return offsets, in bytes, of buffers that are known to fit; None where that is not known."""
        offsets: dict[int, int] = {}
        for component in components(self._problem, members):
            component_packing = self._by_component.get(frozenset(component))
            if component_packing is None or component_packing.offsets is None:
                return None
            offsets |= component_packing.offsets
        return offsets

    def loose(self, members: Sequence[int]) -> dict[int, int]:
        """Return offsets of buffers in a pool without a limit; their fixed offsets do not clash."""
        placed = first_fit(self._roomy, by_size(self._roomy, members)).placed
        offsets = {index: place.offset for index, place in placed.items()}
        self.remember(offsets)
        return offsets

    @cached_property
    def _roomy(self) -> Problem:
        buffers = tuple(replace(buffer, pools=(0,), costs=()) for buffer in self._problem.buffers)
        return replace(self._problem, pools=(Pool(""),), buffers=buffers)

    def remember(self, offsets: Mapping[int, int]) -> None:
        """Remember a packing that is known to be valid."""
        for component in components(self._problem, offsets):
            self._improve(
                self._by_component.setdefault(frozenset(component), _Packing()),
                {index: offsets[index] for index in component},
            )

    def _improve(self, packing: _Packing, offsets: Mapping[int, int]) -> None:
        peak = max((at + self._problem.buffers[index].size for index, at in offsets.items()), default=0)
        if packing.offsets is None or peak < packing.peak:
            packing.offsets, packing.peak = offsets, peak

    def _fit(self, component: frozenset[int], limit: int, nodes: int) -> Status:
        """Decide whether a component fits, by a search where that is not known."""
        packing = self._by_component.setdefault(component, _Packing())
        if packing.offsets is not None and packing.peak <= limit:
            return Status.FITS
        if packing.bound > limit:
            return Status.IMPOSSIBLE
        if packing.tried.get(limit, -1) >= nodes:
            return Status.UNKNOWN
        strip = make_strip(self._problem, sorted(component))
        answer = Searcher(strip).fit(limit // strip.unit, nodes)
        self.nodes += 1 + answer.nodes + len(component) // _PREPARATION
        if answer.status is Status.FITS:
            places = {i: at * strip.unit for i, at in zip(strip.members, answer.offsets, strict=True)}
            self.remember({index: self._problem.buffers[index].offset or 0 for index in component} | places)
        status = answer.status
        if status is Status.IMPOSSIBLE:
            packing.bound = limit + 1
        elif status is Status.UNKNOWN:
            packing.tried[limit] = nodes
        return status

    def _learn(self, component: Iterable[int], limit: int, nodes: int) -> None:
        """Learn a no-good, without the buffers that the proof does not need; the smallest are tried first."""
        core = set(component)
        allowed = self.nodes + min(nodes, _SHORTER * len(core))
        for index in sorted(core, key=lambda i: (self._problem.buffers[i].size, i)):
            if index in core and self.nodes < allowed:
                core = self._still(core - {index}, limit, allowed - self.nodes) or core
        self.no_goods.append(NoGood(frozenset(core), limit + 1, proven=True))

    def _still(self, members: Iterable[int], limit: int, nodes: int) -> set[int] | None:
        """Return a component of these buffers that still does not fit; None if there is none, or it is not known."""
        for component in components(self._problem, members):
            if self._fit(frozenset(component), limit, nodes) is Status.IMPOSSIBLE:
                return set(component)
        return None


def _clashes(problem: Problem, members: Iterable[int]) -> Iterator[frozenset[int]]:
    """Yield pairs of buffers whose fixed offsets are too close."""
    fixed = {index: offset for index in members if (offset := problem.buffers[index].offset) is not None}
    for a, b in combinations(sorted(fixed), 2):
        if b in problem.conflicts[a]:
            above, below = problem.separation(a, b), problem.separation(b, a)
            if fixed[b] - fixed[a] < above and fixed[a] - fixed[b] < below:
                yield frozenset((a, b))
