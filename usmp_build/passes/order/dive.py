"""Jobs and a limit → an order whose peak is within it: one branch after the other, instead of all side by side.

From each job that may be next a *walk* follows those that it makes ready.  Two rules tell where to go:

    a walk that ends with no more bytes than it began with    is taken at once: what it does costs nothing, and
                                                              whatever comes behind it has no more alive than before
    else the walk that needs most above what it leaves        is tried first, while there is room for it

The second one is Liu's, and for trees it needs no second try.  Graphs that are no trees may: then the next best walk
is tried, and single jobs.  A set of jobs that are done is looked at once; so if nothing is left to be tried, there is
no such order.

Liu, J. W. H.: An application of generalized tree pebbling to sparse matrix factorization.  SIAM J. Algebraic Discrete
Methods 8 (1987).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from usmp_build.passes.effects import members_of
from usmp_build.passes.order.states import State, States


@dataclass(frozen=True, slots=True)
class Dived:
    """What a dive found."""

    end: State | None
    """Within the limit; its peak is that of the last walk."""
    is_complete: bool
    """Nothing is left to be tried."""
    work: int
    """Jobs that were tried, each after a set."""


class _Place(NamedTuple):
    done: int
    state: State


def dive(states: States, limit: int, work: int) -> Dived:
    """Search an order with a peak of no more than this, until so many jobs were tried."""
    return _Dive(states, limit, work).run()


class _Dive:
    def __init__(self, states: States, limit: int, work: int) -> None:
        self._states = states
        self._limit = limit
        self._work = work
        self._left = work
        self._seen: set[int] = set()

    def run(self) -> Dived:
        """Try one place after the other, the most promising first."""
        open_ = [_Place(0, self._states.first)] if self._states.first.peak <= self._limit else []
        while open_ and self._left > 0:
            place, moves = self._settled(open_.pop())
            if place.done == self._states.every:
                return self._dived(place.state, is_complete=True)
            if place.done not in self._seen:
                self._seen.add(place.done)
                open_ += reversed([move for move in moves if move.done not in self._seen])
        return self._dived(None, is_complete=not open_)

    def _dived(self, end: State | None, is_complete: bool) -> Dived:
        return Dived(end, is_complete, self._work - self._left)

    def _settled(self, place: _Place) -> tuple[_Place, list[_Place]]:
        """Take all walks that cost nothing; return where they lead, and where others lead from there."""
        walks: dict[int, list[_Place]] = {}
        while fresh := [job for job in members_of(place.state.ready) if job not in walks]:
            for job in fresh:
                walks[job] = list(self._walk(place, job))
                if walks[job] and walks[job][-1].state.size <= place.state.size:
                    place = walks[job][-1]
                    walks = {}
                    break
        deep = sorted((_valley(walk) for walk in walks.values() if walk), key=_rise, reverse=True)
        return place, [*deep, *(walk[0] for walk in walks.values() if walk)]

    def _walk(self, place: _Place, job: int) -> Iterator[_Place]:
        """Do a job, then what it makes ready, each branch to its end; up to where that costs nothing."""
        done, state = place.done, place.state._replace(peak=0)
        open_ = [job]
        while open_:
            number = open_.pop()
            done |= 1 << number
            state = self._states.after(state, number, done)
            self._left -= 1
            if state.peak > self._limit:
                return
            yield _Place(done, state)
            if state.size <= place.state.size:
                return
            open_ += reversed([each for each in self._states.behind(number) if self._states.is_ready(each, done)])


def _valley(walk: list[_Place]) -> _Place:
    """Return where fewest bytes are alive behind the fullest job."""
    fullest = max(place.state.peak for place in walk)
    return min((place for place in walk if place.state.peak == fullest), key=lambda place: place.state.size)


def _rise(place: _Place) -> int:
    return place.state.peak - place.state.size
