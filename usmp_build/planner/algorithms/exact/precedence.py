"""Searches pair by pair: what is not `ordered`, with cycles of separations of 0 or less, and what is huge.

In a cycle, each buffer may be above the one before, and none can be placed first.  So the search branches on pairs: put
every buffer at its floor, take a pair that is too close, and decide which of the two is above.

    floor of k >= floor of i + above(i, k)   for every decision "k above i"

The least floors that keep all decisions are found by raising; when no pair is too close, they are a plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.core import NO_PLACE
from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.algorithms.exact.walks import Answer, Status
from usmp_build.planner.algorithms.near import Neighbor
from usmp_build.units import align_up

_PAIRS = 256
"""Pairs that take about as long as a node of a walk."""


def search(strip: Strip, capacity: int, nodes: int) -> Answer:
    """Search for offsets with which all buffers end at `capacity` units or below; give up after `nodes` nodes.

    Each node visits all pairs, so with many pairs it counts as several.
    """
    tree = _Tree(strip, capacity)
    cost = 1 + tree.pairs // _PAIRS
    stack = [tree.root()]
    visited = 0
    while stack:
        node = stack.pop()
        if node is None:
            continue
        if visited + cost > nodes:
            return Answer(Status.UNKNOWN, (), nodes)
        visited += cost
        pair = tree.closest(node)
        if pair is None:
            return Answer(Status.FITS, tuple(node.floors), visited)
        ways = [tree.decided(node, *way) for way in pair]
        stack += sorted(ways, key=lambda way: -sum(way.floors) if way is not None else 0)
    return Answer(Status.IMPOSSIBLE, (), visited)


@frozen
class _Node:
    """Least floors, and the decisions that they keep: buffer → (buffer above it, distance)."""

    floors: list[int]
    buffers_above: dict[int, list[tuple[int, int]]] = field(default_factory=dict)


_Way = tuple[int, int, int]
"""(buffer, buffer above it, distance)."""


class _Tree:
    def __init__(self, strip: Strip, capacity: int) -> None:
        self._strip = strip
        self._capacity = capacity
        self._near = strip.near.rows()
        self._forbidden = [_forbidden(strip.fixed, neighbors) for neighbors in self._near]
        free = [index for index, fixed in enumerate(strip.fixed) if fixed == NO_PLACE]
        self._pairs = [
            (i, o, above, below)
            for i in free
            for o, above, below in self._near[i]
            if i < o and strip.fixed[o] == NO_PLACE
        ]

    @property
    def pairs(self) -> int:
        return len(self._pairs)

    def root(self) -> _Node | None:
        """Return the root: every buffer as low as it can be by itself; None when that proves that there is no plan."""
        floors = [self._lift(i, 0) if fixed == NO_PLACE else fixed for i, fixed in enumerate(self._strip.fixed)]
        return _Node(floors) if self._has_room(floors) and self._fixed_apart() else None

    def _fixed_apart(self) -> bool:
        fixed = self._strip.fixed
        pairs = ((i, *neighbor) for i, neighbors in enumerate(self._near) for neighbor in neighbors)
        held = ((i, o, a, b) for i, o, a, b in pairs if NO_PLACE not in (fixed[i], fixed[o]))
        valid = all(
            at == NO_PLACE or (at >= 0 and at % step == 0)
            for at, step in zip(fixed, self._strip.alignments, strict=True)
        )
        return valid and all(fixed[o] - fixed[i] >= a or fixed[i] - fixed[o] >= b for i, o, a, b in held)

    def _has_room(self, floors: list[int]) -> bool:
        ends = (floor + size for floor, size in zip(floors, self._strip.sizes, strict=True))
        return all(end <= self._capacity for end in ends)

    def _lift(self, index: int, offset: int) -> int:
        """Return the least offset from `offset` on that is aligned, and clear of neighbors with fixed offsets."""
        alignment = self._strip.alignments[index]
        while True:
            offset = align_up(offset, alignment)
            clear = max((stop for start, stop in self._forbidden[index] if start < offset < stop), default=offset)
            if clear == offset:
                return offset
            offset = clear

    def closest(self, node: _Node) -> tuple[_Way, _Way] | None:
        """Return both decisions for the pair that is raised most by either; None when no pair is too close."""
        worst, decisions = -1, None
        for i, other, above, below in self._pairs:
            ahead = node.floors[other] - node.floors[i]
            if ahead < above and -ahead < below and min(above - ahead, below + ahead) > worst:
                worst = min(above - ahead, below + ahead)
                decisions = ((i, other, above), (other, i, below))
        return decisions

    def decided(self, node: _Node, buffer: int, upper: int, distance: int) -> _Node | None:
        """Put one buffer above another, and propagate that; None when a buffer exceeds the capacity."""
        buffers_above = {**node.buffers_above, buffer: [*node.buffers_above.get(buffer, ()), (upper, distance)]}
        floors = list(node.floors)
        raised = [buffer]
        while raised:
            lower = raised.pop()
            for other, least in buffers_above.get(lower, ()):
                if floors[lower] + least > floors[other]:
                    floors[other] = self._lift(other, floors[lower] + least)
                    if floors[other] + self._strip.sizes[other] > self._capacity:
                        return None
                    raised.append(other)
        return _Node(floors, buffers_above)


def _forbidden(fixed: Sequence[int], neighbors: Sequence[Neighbor]) -> list[tuple[int, int]]:
    """Return the open intervals of offsets that neighbors with fixed offsets rule out."""
    places = ((fixed[other], above, below) for other, above, below in neighbors)
    return [(at - above, at + below) for at, above, below in places if at != NO_PLACE]
