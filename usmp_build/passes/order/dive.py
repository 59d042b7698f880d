"""Searches for an order with a peak within a limit, depth first: one branch after another instead of all in parallel.

From each ready job a *walk* follows those that it makes ready.  Two rules choose the next walk:

    a walk that ends with no more bytes than it began with    is taken at once: it costs nothing, since later jobs
                                                              have no more bytes alive than without it
    else the walk that needs most above what it leaves        is tried first, while there is room for it

The second one is Liu's, and for trees it never has to backtrack.  For other graphs it may: then the next best walk is
tried, and single jobs.  Each set of jobs that are done is visited once; so if nothing is left to try, no such order
exists.

Liu, J. W. H.: An application of generalized tree pebbling to sparse matrix factorization.  SIAM J. Algebraic Discrete
Methods 8 (1987).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from usmp_build.frozen import frozen
from usmp_build.passes.effects import members_of
from usmp_build.passes.order.states import OrderState, States


@frozen
class DiveResult:
    """The result of a dive."""

    end: OrderState | None
    """The final state of an order within the limit; its peak is that of the last walk only."""
    is_complete: bool
    """Whether nothing is left to try."""
    work: int
    """Number of (set, job) moves tried."""


class _Node(NamedTuple):
    """A node of the search."""

    done: int
    """The set of jobs that are done."""
    state: OrderState


def dive(states: States, limit: int, work: int) -> DiveResult:
    """Search an order with a peak of at most `limit` bytes; stop after `work` moves."""
    return _Dive(states, limit, work).run()


class _Dive:
    def __init__(self, states: States, limit: int, work: int) -> None:
        self._states = states
        self._limit = limit
        self._work = work
        self._left = work
        self._seen: set[int] = set()

    def run(self) -> DiveResult:
        """Try nodes depth first, the most promising one first."""
        open_ = [_Node(0, self._states.first)] if self._states.first.peak <= self._limit else []
        while open_ and self._left > 0:
            node, moves = self._after_free_walks(open_.pop())
            if node.done == self._states.every:
                return self._result(node.state, is_complete=True)
            if node.done not in self._seen:
                self._seen.add(node.done)
                open_ += reversed([move for move in moves if move.done not in self._seen])
        return self._result(None, is_complete=not open_)

    def _result(self, end: OrderState | None, is_complete: bool) -> DiveResult:
        return DiveResult(end, is_complete, self._work - self._left)

    def _after_free_walks(self, node: _Node) -> tuple[_Node, list[_Node]]:
        """Take all walks that cost nothing; return the node that they lead to, and those that other walks lead to."""
        walks: dict[int, list[_Node]] = {}
        while fresh := [job for job in members_of(node.state.ready) if job not in walks]:
            for job in fresh:
                walks[job] = list(self._walk(node, job))
                if walks[job] and walks[job][-1].state.size <= node.state.size:
                    node = walks[job][-1]
                    walks = {}
                    break
        deep = sorted((_valley(walk) for walk in walks.values() if walk), key=_rise, reverse=True)
        return node, [*deep, *(walk[0] for walk in walks.values() if walk)]

    def _walk(self, node: _Node, job: int) -> Iterator[_Node]:
        """Yield the nodes from a job on through those that it makes ready, up to one that costs nothing."""
        done, state = node.done, node.state._replace(peak=0)
        open_ = [job]
        while open_:
            number = open_.pop()
            done |= 1 << number
            state = self._states.after(state, number, done)
            self._left -= 1
            if state.peak > self._limit:
                return
            yield _Node(done, state)
            if state.size <= node.state.size:
                return
            open_ += reversed([each for each in self._states.successors(number) if self._states.is_ready(each, done)])


def _valley(walk: list[_Node]) -> _Node:
    """Return the node with the fewest bytes alive after the fullest job."""
    fullest = max(node.state.peak for node in walk)
    return min((node for node in walk if node.state.peak == fullest), key=lambda node: node.state.size)


def _rise(node: _Node) -> int:
    return node.state.peak - node.state.size
