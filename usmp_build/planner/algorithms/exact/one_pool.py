"""Some buffers of a problem in one pool: the least peak, with a proof where the search comes to its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from usmp_build import effort
from usmp_build.planner.algorithms.exact.least import least
from usmp_build.planner.algorithms.exact.sections import make_strip
from usmp_build.planner.memory.components import components
from usmp_build.planner.memory.pressure import pressure
from usmp_build.planner.memory.problem import Problem


@dataclass(frozen=True, slots=True)
class Packing:
    """What is known of a pool; in bytes."""

    offsets: Mapping[int, int] | None
    """Index of a buffer → offset; None when nothing was found within the limit."""
    peak: int
    bound: int
    """No plan of these buffers ends below: proven."""
    nodes: int

    @property
    def is_optimal(self) -> bool:
        """Whether no plan ends lower."""
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

    Whoever asks gains nothing by less than `enough` bytes.
    Parts that do not conflict lie over each other: the one with the highest bound goes first, and for the others it
    is enough to end no higher.
    """
    found: dict[int, int] = {}
    groups = [(pressure(problem, component).bytes, component) for component in components(problem, members)]
    groups.sort(key=lambda group: (-group[0], group[1]))
    bound = peak = done = 0
    for known, component in groups:
        some = _component(problem, component, known, limit, nodes - done, start, max(peak, enough))
        done += some.nodes
        bound = max(bound, some.bound)
        if some.offsets is None:
            return Packing(None, 0, bound, done)
        found |= some.offsets
        peak = max(peak, some.peak)
    return Packing(found, peak, bound, done)


def _component(
    problem: Problem,
    component: Sequence[int],
    bound: int,
    limit: int | None,
    nodes: int,
    start: Mapping[int, int] | None,
    enough: int,
) -> Packing:
    """Pack buffers that hang together; `enough` bytes are used anyway."""
    if start is not None and ends(problem, start, component) <= max(bound, enough):
        return Packing({index: start[index] for index in component}, ends(problem, start, component), bound, 0)
    if len(component) > effort.EXACT_BUFFERS:
        kept = None if start is None else {index: start[index] for index in component}
        return Packing(kept, ends(problem, kept or {}, kept or ()), bound, 0)
    strip = make_strip(problem, component)
    anywhere = {index: problem.buffers[index].offset or 0 for index in component}
    if not strip.sizes:
        return Packing(anywhere, max(anywhere.values(), default=0), bound, 0)
    unit = strip.unit
    begin = [start[index] // unit for index in strip.members] if start is not None else None
    room = None if limit is None else limit // unit
    known = least(strip, -(-bound // unit), begin, nodes, room, enough // unit)
    bound = max(bound, known.bound * unit)
    if known.offsets is None:
        return Packing(None, 0, bound, known.nodes)
    places = {index: offset * unit for index, offset in zip(strip.members, known.offsets, strict=True)}
    return Packing(anywhere | places, known.peak * unit, bound, known.nodes)


def ends(problem: Problem, offsets: Mapping[int, int], members: Iterable[int]) -> int:
    """Return where the last of these buffers ends, in bytes."""
    return max((offsets[index] + problem.buffers[index].size for index in members), default=0)
