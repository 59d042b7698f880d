"""Branch and bound over assignments of items to pools.

                        state                    a state allows each item some of its pools (see `state`)
                       /     \\
         a in its best       not there          a is the item that would lose most, so that "not there" soon fails

When every item has its pool, `packings` decides whether the pools can hold their buffers.  If one cannot, that is a new
no-good: buffers that no later assignment puts together.  So two problems are solved by turns, each simple
by itself (logic-based Benders decomposition: Hooker and Ottosson, Mathematical Programming 96, 2003).  If it is not
known whether the pools can hold their buffers, the assignment is dropped anyway, but less is proven.
"""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.planner.algorithms.exact.choices import Choices
from usmp_build.planner.algorithms.exact.no_goods import NOWHERE
from usmp_build.planner.algorithms.exact.packings import Packings
from usmp_build.planner.algorithms.exact.state import Ground, State
from usmp_build.planner.algorithms.exact.walks import Status

_PREPARATION = 32
"""Items that take as long to prepare for a search as one node."""


@dataclass(slots=True)
class Outcome:
    """The result of a search."""

    where: tuple[int, ...] | None = None
    """The pool of each item, in the cheapest assignment found whose pools hold their buffers."""
    complete: bool = False
    """Whether the search finished: then only assignments that were dropped may cost less than `where`."""
    doubt: int | None = None
    """A lower bound of the cost of assignments dropped without proof; None: none was dropped."""
    nodes: int = 0


class Tree:
    """The search tree of some choices."""

    def __init__(self, choices: Choices, ground: Ground, packings: Packings) -> None:
        self._choices = choices
        self._ground = ground
        self._packings = packings
        self._state = State(choices, ground, packings)
        self._frames: list[tuple[int, int, int]] = []
        """The choices on the current path: item, which of its pools, and the mark before."""

    def run(self, most: int | None, nodes: int, patience: int, first: bool = False) -> Outcome:
        """Search for the cheapest assignment that costs at most `most`; `first`: stop at the first one.

        Gives up after `nodes` nodes, those of `packings` included; a packing is given up after `patience` nodes.
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
        """Backtrack to the last choice whose other branch may have a plan, and take it; False if there is none."""
        while self._frames:
            item, which, mark = self._frames.pop()
            self._state.undo(mark)
            if self._state.refuse(item, which):
                return True
        return False

    def _leaf(self, out: Outcome, nodes: int) -> None:
        """Pack the pools of an assignment; if they fit, further solutions must be cheaper."""
        status = self._packed(nodes)
        if status is Status.UNKNOWN:
            self._state.drop(self._state.plain)
        elif status is Status.FITS:
            out.where = tuple(self._state.where)
            self._state.most = self._state.plain - 1

    def _packed(self, nodes: int) -> Status:
        """Return whether the limited pools hold their buffers."""
        limits = self._ground.limits
        inside: dict[int, list[int]] = {pool: [] for pool in limits}
        for index, pool in self._ground.held.items():
            inside[pool].append(index)
        for index, pool in zip(self._choices.members, self._state.where, strict=True):
            inside[pool].append(index)
        worst = Status.FITS
        for pool, limit in limits.items():
            if limit is not None:
                status = self._packings.fit(inside[pool], limit, nodes)
                if status is Status.IMPOSSIBLE:
                    return status
                worst = status if status is Status.UNKNOWN else worst
        return worst
