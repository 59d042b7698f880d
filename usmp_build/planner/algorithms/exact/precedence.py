"""The search for strips that are not `ordered`: several separations of 0 or less, one after the other in a circle.

Then "one is behind the other" may go round in that circle, and no buffer can be placed first.  So the choice is about
pairs: put every buffer at its floor, take a pair that is too close, and decide which of the two is behind.

    floor of k >= floor of i + above(i, k)   for every decision "k behind i"

The least floors that keep all decisions are found by raising; when no pair is too close, they are a plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from usmp_build.planner.algorithms.exact.search import Answer
from usmp_build.planner.algorithms.exact.strip import Strip
from usmp_build.planner.algorithms.exact.walk import Status, Walk

_PAIRS = 256
"""So many cost as much as a node of `search`, about."""


def search(strip: Strip, capacity: int, nodes: int) -> Answer:
    """Look for offsets so that everything ends at `capacity` units or below; give up after so many nodes.

    Each node looks at all pairs, so one with many pairs counts as several.
    """
    tree = _Tree(strip, capacity)
    each = 1 + tree.pairs // _PAIRS
    stack = [tree.root()]
    done = 0
    while stack:
        node = stack.pop()
        if node is None:
            continue
        if done + each > nodes:
            return Answer(Status.UNKNOWN, (), nodes)
        done += each
        pair = tree.closest(node)
        if pair is None:
            return Answer(Status.FITS, tuple(node.floors), done)
        ways = [tree.decided(node, *way) for way in pair]
        stack += sorted(ways, key=lambda way: -sum(way.floors) if way is not None else 0)
    return Answer(Status.IMPOSSIBLE, (), done)


@dataclass(frozen=True, slots=True)
class _Node:
    """Least floors, and the decisions that they keep: buffer → (buffer behind it, distance)."""

    floors: list[int]
    behind: dict[int, list[tuple[int, int]]] = field(default_factory=dict)


_Way = tuple[int, int, int]
"""(buffer, buffer behind it, distance)."""


class _Tree:
    def __init__(self, strip: Strip, capacity: int) -> None:
        self._strip = strip
        self._capacity = capacity
        self._lift = Walk(strip).lift
        free = [index for index, fixed in enumerate(strip.fixed) if fixed < 0]
        self._pairs = [
            (i, o, above, below) for i in free for o, above, below in strip.neighbors[i] if i < o and strip.fixed[o] < 0
        ]

    @property
    def pairs(self) -> int:
        """How many there are to be parted."""
        return len(self._pairs)

    def root(self) -> _Node | None:
        """Every buffer as low as it can be by itself."""
        floors = [self._lift(i, 0) if fixed < 0 else fixed for i, fixed in enumerate(self._strip.fixed)]
        return _Node(floors) if self._has_room(floors) and self._fixed_apart() else None

    def _fixed_apart(self) -> bool:
        fixed = self._strip.fixed
        pairs = ((i, *near) for i, some in enumerate(self._strip.neighbors) for near in some)
        held = ((i, o, a, b) for i, o, a, b in pairs if fixed[i] >= 0 and fixed[o] >= 0)
        aligned = all(at < 0 or at % step == 0 for at, step in zip(fixed, self._strip.alignments, strict=True))
        return aligned and all(fixed[o] - fixed[i] >= a or fixed[i] - fixed[o] >= b for i, o, a, b in held)

    def _has_room(self, floors: list[int]) -> bool:
        ends = (floor + size for floor, size in zip(floors, self._strip.sizes, strict=True))
        return all(end <= self._capacity for end in ends)

    def closest(self, node: _Node) -> tuple[_Way, _Way] | None:
        """Return both ways to part the pair for which either costs most; None when all are apart."""
        worst, found = -1, None
        for i, other, above, below in self._pairs:
            ahead = node.floors[other] - node.floors[i]
            if ahead < above and -ahead < below and min(above - ahead, below + ahead) > worst:
                worst = min(above - ahead, below + ahead)
                found = ((i, other, above), (other, i, below))
        return found

    def decided(self, node: _Node, buffer: int, later: int, distance: int) -> _Node | None:
        """Put one buffer behind another, and raise what follows from that; None when something gets too high."""
        behind = {**node.behind, buffer: [*node.behind.get(buffer, ()), (later, distance)]}
        floors = list(node.floors)
        raised = [buffer]
        while raised:
            lower = raised.pop()
            for other, least in behind.get(lower, ()):
                if floors[lower] + least > floors[other]:
                    floors[other] = self._lift(other, floors[lower] + least)
                    if floors[other] + self._strip.sizes[other] > self._capacity:
                        return None
                    raised.append(other)
        return _Node(floors, behind)
