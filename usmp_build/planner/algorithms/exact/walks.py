"""Walks through the tree of a strip, in the compiled core: six kinds by turns, each a little longer than the last.

How long a walk takes depends much on luck: a rule that is hopeless on one strip finds a plan at once on another.  So
six kinds take turns, and restart with half as much work again; what they learned about sections is kept.
`core/search.cpp` has the turns, and `core/walk.h` explains a walk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.core import NO_LIMIT, Object, call, numbers, triples
from usmp_build.planner.algorithms.exact.strip import Strip


class Status(Enum):
    """The result of a search; numbers as in core/walk.h."""

    FITS = 0
    IMPOSSIBLE = 1
    UNKNOWN = 2


@frozen
class Answer:
    """The result of a search, and its work in nodes."""

    status: Status
    offsets: tuple[int, ...]
    """In units; empty unless the strip fits."""
    nodes: int


def compiled(strip: Strip) -> Object:
    """Hand a strip over to the core."""
    columns = (numbers(strip.sizes), numbers(strip.alignments), numbers(strip.fixed))
    spans = triples(strip.spans)
    return Object("strip", len(strip.sizes), *columns, *strip.near.triples, *spans, strip.sections, int(strip.linear))


class Walks:
    """Walks of one strip; what they learn about sections is kept from one capacity to the next."""

    def __init__(self, strip: Object, count: int) -> None:
        self._walks = Object("walks", strip)
        self._count = count

    def turn(self, capacity: int, nodes: int, limit: int = 0) -> Answer:
        """Walk once in each way, at most `nodes` nodes in all, and `limit` nodes each; 0: as many as come next."""
        visited, offsets = numbers([0]), numbers([0] * self._count)
        most = (min(capacity, NO_LIMIT), min(nodes, NO_LIMIT))
        status = Status(call("walks_turn", self._walks, *most, limit, visited, offsets))
        return Answer(status, tuple(offsets) if status is Status.FITS else (), visited[0])


@dataclass(slots=True)
class Course:
    """A search at one capacity that can be interrupted and resumed."""

    walks: Walks
    capacity: int
    turns: int = 0
    """How many turns were taken."""

    def turn(self, nodes: int) -> Answer:
        """Take the next turn, of at most `nodes` nodes."""
        self.turns += 1
        return self.walks.turn(self.capacity, nodes)

    def finish(self, nodes: int) -> Answer:
        """Take turns until the answer is there, or `nodes` nodes are visited."""
        visited = 0
        while True:
            answer = self.turn(nodes - visited)
            visited += answer.nodes
            if answer.status is not Status.UNKNOWN or visited >= nodes:
                return replace(answer, nodes=visited)
