"""Search over assignments: give every item a pool, and take back what cannot end well.

                        state                    a state allows each item some of its pools (see `state`)
                       /     \\
          a in its best       not there          the item that would lose most, so that "not there" soon fails

When every item has its pool, `packings` tells whether the pools can hold their buffers.  If one cannot, that is a new
no-good: buffers that no later assignment puts together.  So the search asks two questions by turns, each of which is
simple by itself (logic-based Benders decomposition: Hooker and Ottosson, Mathematical Programming 96, 2003).  If it
is not known whether the pools can hold their buffers, the assignment is dropped all the same, but less is proven.
"""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.planner.algorithms.exact.choices import Choices
from usmp_build.planner.algorithms.exact.no_goods import NOWHERE
from usmp_build.planner.algorithms.exact.packings import Packings
from usmp_build.planner.algorithms.exact.state import Ground, State
from usmp_build.planner.algorithms.exact.walk import Status

_PREPARATION = 32
"""Items whose part in the preparation of a search takes as long as a node."""


@dataclass(slots=True)
class Outcome:
    """What a search found out."""

    where: tuple[int, ...] | None = None
    """The pool of each item, in the cheapest assignment found whose pools hold their buffers."""
    complete: bool = False
    """Whether the search came to its end: then what is cheaper than `where` is among what was dropped."""
    doubt: int | None = None
    """No assignment that was dropped without proof costs less; None: none was dropped."""
    nodes: int = 0


class Tree:
    """The search tree of some choices."""

    def __init__(self, choices: Choices, ground: Ground, packings: Packings) -> None:
        self._choices = choices
        self._ground = ground
        self._packings = packings
        self._state = State(choices, ground, packings)
        self._frames: list[tuple[int, int, int]] = []
        """Choices that were made: item, which of its pools, and the mark before."""

    def run(self, most: int | None, nodes: int, patience: int, first: bool = False) -> Outcome:
        """Look for the cheapest assignment that costs `most` at the most; `first`: any will do.

        Gives up after so many nodes, those of `packings` included; a packing is given up after `patience` nodes.
        """
        self._state.most = most
        out = Outcome(nodes=len(self._choices.members) // _PREPARATION)
        begin = self._packings.nodes
        going = self._state.root()
        while going:
            left = nodes - out.nodes - (self._packings.nodes - begin)
            if left <= 0:
                break
            out.nodes += 1
            item = self._state.open()
            if item == NOWHERE:
                self._leaf(out, min(left, patience))
                if first and out.where is not None:
                    break
                going = self._back()
            else:
                self._frames.append((item, self._state.allowed[item][0], self._state.mark))
                going = self._state.take(item) or self._back()
        out.complete = not going
        out.doubt = self._state.doubt
        out.nodes += self._packings.nodes - begin
        return out

    def _back(self) -> bool:
        """Undo the last choices, up to one whose other branch may end well, and take that; False if there is none."""
        while self._frames:
            item, which, mark = self._frames.pop()
            self._state.undo(mark)
            if self._state.refuse(item, which):
                return True
        return False

    def _leaf(self, out: Outcome, nodes: int) -> None:
        """Pack what was assigned; a solution must be cheaper from now on."""
        status = self._packed(nodes)
        if status is Status.UNKNOWN:
            self._state.drop(self._state.plain)
        elif status is Status.FITS:
            out.where = tuple(self._state.where)
            self._state.most = self._state.plain - 1

    def _packed(self, nodes: int) -> Status:
        """Tell whether the limited pools hold their buffers."""
        limits = self._ground.limits
        inside: dict[int, list[int]] = {pool: [] for pool in limits}
        for index, pool in self._ground.held.items():
            inside[pool].append(index)
        for index, pool in zip(self._choices.members, self._state.where, strict=True):
            inside[pool].append(index)
        found = Status.FITS
        for pool, limit in limits.items():
            if limit is not None:
                status = self._packings.fit(inside[pool], limit, nodes)
                if status is Status.IMPOSSIBLE:
                    return status
                found = status if status is Status.UNKNOWN else found
        return found
