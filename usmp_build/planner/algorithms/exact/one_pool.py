"""Packs buffers into one pool with the least peak, with a proof where the search finishes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.exact.least import least
from usmp_build.planner.algorithms.exact.sections import make_strip
from usmp_build.planner.memory.components import components
from usmp_build.planner.memory.pressure import pressure
from usmp_build.planner.memory.problem import Problem


@frozen
class Packing:
    """The result of packing one pool, in bytes."""

    offsets: Mapping[int, int] | None
    """Index of a buffer → offset; None when no packing was found within the limit."""
    peak: int
    bound: int
    """A lower bound of the peak, proven."""
    nodes: int

    @property
    def is_optimal(self) -> bool:
        """Whether no packing has a lower peak."""
        return self.offsets is not None and self.peak <= self.bound


def pack(
    problem: Problem,
    members: Sequence[int],
    limit: int | None,
    nodes: int,
    start: Mapping[int, int] | None = None,
    enough: int = 0,
) -> Packing:
    """Pack buffers into one pool of `limit` bytes; `start` is a packing to improve, if there is one.

    The caller gains nothing by a peak below `enough` bytes.  Components do not conflict, so they use the same bytes:
    the one with the highest bound is packed first, and for the others it is enough to end no higher.
    """
    offsets: dict[int, int] = {}
    groups = [(pressure(problem, component).bytes, component) for component in components(problem, members)]
    groups.sort(key=lambda group: (-group[0], group[1]))
    bound = peak = visited = 0
    for least_peak, component in groups:
        packing = _component(problem, component, least_peak, limit, nodes - visited, start, max(peak, enough))
        visited += packing.nodes
        bound = max(bound, packing.bound)
        if packing.offsets is None:
            return Packing(None, 0, bound, visited)
        offsets |= packing.offsets
        peak = max(peak, packing.peak)
    return Packing(offsets, peak, bound, visited)


def _component(
    problem: Problem,
    component: Sequence[int],
    bound: int,
    limit: int | None,
    nodes: int,
    start: Mapping[int, int] | None,
    enough: int,
) -> Packing:
    """Pack one component; `enough` bytes are used anyway."""
    if start is not None and ends(problem, start, component) <= max(bound, enough):
        return _kept(problem, component, bound, start)
    if len(component) > effort.EXACT_BUFFERS:
        return _kept(problem, component, bound, start)
    strip = make_strip(problem, component)
    anywhere = {index: problem.buffers[index].offset or 0 for index in component}
    if not strip.sizes:
        return Packing(anywhere, max(anywhere.values(), default=0), bound, 0)
    unit = strip.unit
    begin = [start[index] // unit for index in strip.members] if start is not None else None
    room = None if limit is None else limit // unit
    result = least(strip, -(-bound // unit), begin, nodes, room, enough // unit)
    bound = max(bound, result.bound * unit)
    if result.offsets is None:
        return Packing(None, 0, bound, result.nodes)
    places = {index: offset * unit for index, offset in zip(strip.members, result.offsets, strict=True)}
    return Packing(anywhere | places, result.peak * unit, bound, result.nodes)


def _kept(problem: Problem, component: Sequence[int], bound: int, start: Mapping[int, int] | None) -> Packing:
    """Return the packing that there is, for a component that is too large to search."""
    if start is None:
        return Packing(None, 0, bound, 0)
    return Packing({index: start[index] for index in component}, ends(problem, start, component), bound, 0)


def ends(problem: Problem, offsets: Mapping[int, int], members: Iterable[int]) -> int:
    """Return the peak of these buffers, in bytes."""
    return max((offsets[index] + problem.buffers[index].size for index in members), default=0)
