"""Jobs that depend on each other → the order with the smallest peak: dynamic programming over what has been done.

What is alive depends only on the set of jobs that are done, not on their order.  So of all ways to the same set only
the best one is pursued, and sets are looked at by their size:

    a ─ b ─┐                 {}  {a}  {a,b}    {a,b,d}
           ├─ e              ·    {d}  {a,d}    ·         {a,b,c,d}   all
    d ─ c ─┘                           {c,d}    {a,c,d}

A graph that is one chain has one set of each size; sets multiply where branches stand side by side.  As long as they
are few, all are looked at, and the result is the best there is.  Else one branch after the other is tried (see `dive`),
and then the best sets of each size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from usmp_build import effort
from usmp_build.passes.effects import members_of
from usmp_build.passes.order.branches import branch_by_branch
from usmp_build.passes.order.dive import dive
from usmp_build.passes.order.states import Jobs, State, States


@dataclass(frozen=True, slots=True)
class Order:
    """An order, and what is known of all others."""

    order: tuple[int, ...]
    peak: int
    """Bytes alive at its fullest job, as far as buffers may not share them."""
    bound: int
    """No order has a smaller peak."""

    @property
    def is_best(self) -> bool:
        """Whether no order has a smaller peak."""
        return self.peak == self.bound


def best_order(jobs: Jobs, states: int = effort.ORDER_STATES, beam: int = effort.ORDER_BEAM) -> Order:
    """Return the best order found; the file's where none is better."""
    space = States(jobs)
    every = tuple(range(len(jobs.jobs)))
    peak = space.along(every).peak
    least = max((space.beside(number, job.needs, 0) for number, job in enumerate(jobs.jobs)), default=0)
    least = max(least, space.first.peak)
    best = Order(every, peak, min(peak, least))
    if best.is_best:
        return best
    found = _level_by_level(space, best.peak, states, _all)
    if found is not _CUT:
        return _better(space, best, found, is_all=True)
    for order in branch_by_branch(jobs):
        reached = space.along(order).peak
        best = Order(order, reached, best.bound) if reached < best.peak else best
    best = _dived(space, best)
    if best.is_best:
        return best
    width = max(1, beam // len(every))
    found = _level_by_level(space, best.peak, beam + len(every), lambda some: _narrowed(some, width))
    return _better(space, best, None if found is _CUT else found)


def _better(space: States, best: Order, found: State | None, is_all: bool = False) -> Order:
    """Return what was found, or the best before it; `is_all`: all others were looked at."""
    order = _order(found) if found is not None else best.order
    peak = space.along(order).peak
    return Order(order, peak, peak if is_all else best.bound)


def _dived(space: States, best: Order) -> Order:
    """Halve what is between the best order and the bound until nothing is left; at first ask for the bound itself."""
    work, low, limit = effort.DIVES_STEPS, best.bound, best.bound
    while low < best.peak and work > 0:
        found = dive(space, limit, min(work, effort.DIVE_STEPS))
        work -= found.work
        if found.end is not None:
            best = _better(space, best, found.end)
        else:
            low = limit + 1
            best = replace(best, bound=low) if found.is_complete and low > best.bound else best
        limit = (low + best.peak - 1) // 2
    return best


_CUT = State(-1, 0, 0, 0, None)
"""A search that did not come to its end."""

_Level = dict[int, State]


def _all(level: _Level) -> _Level:
    return level


def _narrowed(level: _Level, width: int) -> _Level:
    """Keep the best states of one size; among equals the first found, which is near the order of the file."""
    if len(level) <= width:
        return level
    return dict(sorted(level.items(), key=lambda item: (item[1].peak, item[1].size))[:width])


def _order(state: State) -> tuple[int, ...]:
    order: list[int] = []
    path: object = state.path
    while isinstance(path, tuple):
        job, path = path
        order.append(job)
    return tuple(reversed(order))


def _level_by_level(space: States, below: int, most: int, kept: Callable[[_Level], _Level]) -> State | None:
    """Return the best end with a peak below this; None if there is none, `_CUT` after too much work.

    `kept` says which sets of one size are pursued.
    """
    level: _Level = {0: space.first}
    tries = 0
    while space.every not in level:
        following: _Level = {}
        for done, state in level.items():
            for job in members_of(state.ready):
                tries += 1
                now = done | 1 << job
                found = space.after(state, job, now)
                if found.peak < below and (now not in following or found.peak < following[now].peak):
                    following[now] = found
        level = kept(following)
        most -= len(level)
        if not level:
            return None
        if most < 0 or tries > effort.ORDER_STEPS:
            return _CUT
    return level[space.every]
