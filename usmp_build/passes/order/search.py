"""Finds the order of jobs with the smallest peak, by dynamic programming over sets of jobs that are done.

The live buffers depend only on the set of jobs that are done, not on their order.  So of all paths to the same set only
the best one is kept, and sets are processed by size:

    a ─ b ─┐                 {}  {a}  {a,b}    {a,b,d}
           ├─ e              ·    {d}  {a,d}    ·         {a,b,c,d}   all
    d ─ c ─┘                           {c,d}    {a,c,d}

A graph that is one chain has one set of each size; parallel branches multiply the sets.  If there are few, the search
is exhaustive, and the result optimal.  Else it runs one branch after another (see `dive`), and then a beam search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.passes.effects import members_of
from usmp_build.passes.order.branches import branch_by_branch
from usmp_build.passes.order.dive import dive
from usmp_build.passes.order.states import Jobs, OrderState, States


@frozen
class Order:
    """An order, and a lower bound for all orders."""

    order: tuple[int, ...]
    peak: int
    """Bytes alive at its fullest job, where overlapping bytes count once."""
    bound: int
    """No order has a smaller peak."""

    @property
    def is_best(self) -> bool:
        """Whether no order has a smaller peak."""
        return self.peak == self.bound


def best_order(
    jobs: Jobs,
    states: int = effort.ORDER_STATES,
    beam: int = effort.ORDER_BEAM,
    seeds: Sequence[tuple[int, ...]] = (),
    enough: int = 0,
) -> Order:
    """Return the best order of the search, or the best of the file's order and the seeds if none is better.

    An exhaustive search visits up to `states` sets of jobs, a beam search `beam`.  There is none where a peak of
    `enough` bytes is reached already.
    """
    space = jobs.states
    peak, first = min(((space.along(each).peak, each) for each in (tuple(range(len(jobs.jobs))), *seeds)), key=_peak)
    best = Order(first, peak, min(peak, _fullest_job(jobs)))
    if best.is_best or best.peak <= enough:
        return best
    end = _level_by_level(space, best.peak, states, _all)
    if end is not _CUT:
        return _better(space, best, end, is_all=True)
    for order in branch_by_branch(jobs):
        peak = space.along(order).peak
        best = Order(order, peak, best.bound) if peak < best.peak else best
    best = _improved_by_dives(space, best)
    if best.is_best:
        return best
    return _better(space, best, _beam(space, best.peak, beam))


def _fullest_job(jobs: Jobs) -> int:
    """Return the bytes that every order needs: for one of its jobs, or when the first one begins."""
    space = jobs.states
    fullest = max((space.beside(number, job.needs, 0) for number, job in enumerate(jobs.jobs)), default=0)
    return max(fullest, space.first.peak)


def _peak(of_order: tuple[int, tuple[int, ...]]) -> int:
    return of_order[0]


def _beam(space: States, below: int, beam: int) -> OrderState | None:
    count = space.every.bit_length()
    width = max(1, beam // max(1, count))
    end = _level_by_level(space, below, beam + count, lambda level: _narrowed(level, width))
    return None if end is _CUT else end


def _better(space: States, best: Order, end: OrderState | None, is_all: bool = False) -> Order:
    """Return the order that leads to state `end`, else `best`; `is_all`: the search was exhaustive."""
    order = _order(end) if end is not None else best.order
    peak = space.along(order).peak
    return Order(order, peak, peak if is_all else best.bound)


def _improved_by_dives(space: States, best: Order) -> Order:
    """Bisect the gap between the best order and the bound by dives; the first one tries the bound itself."""
    work, low, limit = effort.DIVES_STEPS, best.bound, best.bound
    while low < best.peak and work > 0:
        result = dive(space, limit, min(work, effort.DIVE_STEPS))
        work -= result.work
        if result.end is not None:
            best = _better(space, best, result.end)
        else:
            low = limit + 1
            best = replace(best, bound=low) if result.is_complete and low > best.bound else best
        limit = (low + best.peak - 1) // 2
    return best


_CUT = OrderState(-1, 0, 0, 0, None)
"""The result of a search that reached its limit of work."""

_Level = dict[int, OrderState]


def _all(level: _Level) -> _Level:
    return level


def _narrowed(level: _Level, width: int) -> _Level:
    """Keep the best `width` states of one size; among equals the first, which is near the order of the file."""
    if len(level) <= width:
        return level
    return dict(sorted(level.items(), key=lambda item: (item[1].peak, item[1].size))[:width])


def _order(state: OrderState) -> tuple[int, ...]:
    order: list[int] = []
    path: object = state.path
    while isinstance(path, tuple):
        job, path = path
        order.append(job)
    return tuple(reversed(order))


def _level_by_level(space: States, below: int, most: int, kept: Callable[[_Level], _Level]) -> OrderState | None:
    """Return the best final state with a peak below `below`; None if there is none, `_CUT` after too much work.

    `kept` selects the sets of one size that are expanded.
    """
    level: _Level = {0: space.first}
    tries = 0
    while space.every not in level:
        following: _Level = {}
        for done, state in level.items():
            for job in members_of(state.ready):
                tries += 1
                with_job = done | 1 << job
                successor = space.after(state, job, with_job)
                if successor.peak < below and (with_job not in following or successor.peak < following[with_job].peak):
                    following[with_job] = successor
        level = kept(following)
        most -= len(level)
        if not level:
            return None
        if most < 0 or tries > effort.ORDER_STEPS:
            return _CUT
    return level[space.every]
