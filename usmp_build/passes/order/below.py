"""Jobs that depend on each other → their orders with small peaks, one after the other, the smallest first.

The smallest peak is a bound: a plan may not reach it, and another order, of the same peak or a little more, may do
better.  What a set of jobs that is done still costs at least does not depend on how it was reached.  With that known
for all sets, the search never turns back: each step that it takes is one of an order that it returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from usmp_build import effort
from usmp_build.passes.effects import members_of
from usmp_build.passes.order.search import Order
from usmp_build.passes.order.states import Jobs, State, States

_Step = tuple[int, int]
"""A job, and the bytes that are alive with it."""


@dataclass(frozen=True, slots=True)
class Below:
    """Orders with peaks below a limit."""

    orders: tuple[Order, ...]
    """The smallest peaks first."""
    are_all: bool
    """There are no others."""


def orders_below(jobs: Jobs, limit: int, most: int, states: int = effort.ORDER_STATES) -> Below:
    """Return up to `most` orders with a peak below `limit`; none where more than `states` sets of jobs lead there."""
    space = States(jobs)
    steps = _steps(space, limit, states)
    if steps is None:
        return Below((), are_all=False)
    to_go = _to_go(steps, space.every)
    least = max(space.first.peak, to_go.get(0, limit))  # of any order
    open_: list[tuple[int, int, tuple[int, ...], int]] = [(least, 0, (), 0)] if least < limit else []
    found: list[Order] = []
    while open_ and len(found) < most:
        peak, left, order, done = heappop(open_)
        if done == space.every:
            found.append(Order(order, peak, least))
        for job, alive in steps[done]:
            now = done | 1 << job
            if now in to_go and (reached := max(peak, alive, to_go[now])) < limit:
                heappush(open_, (reached, left - 1, (*order, job), now))
    return Below(tuple(found), are_all=not open_)


def _steps(space: States, limit: int, most: int) -> dict[int, list[_Step]] | None:
    """Return for each set of jobs that may be done the steps from it, fewer sets first; None where sets are many."""
    level = {0: space.first}
    found: dict[int, list[_Step]] = {}
    while level:
        following: dict[int, State] = {}
        for done, state in level.items():
            found[done] = []
            for job in members_of(state.ready):
                now = done | 1 << job
                reached = space.after(state._replace(peak=0), job, now)
                if reached.peak < limit:
                    following[now] = reached
                    found[done].append((job, reached.peak))
        if len(found) + len(following) > most:
            return None
        level = following
    return found


def _to_go(steps: dict[int, list[_Step]], every: int) -> dict[int, int]:
    """Return for each set of jobs from which the end is reached the smallest peak on the way there."""
    found = {every: 0} if every in steps else {}
    for done in reversed(steps):
        peaks = [max(alive, found[done | 1 << job]) for job, alive in steps[done] if done | 1 << job in found]
        if peaks:
            found[done] = min(peaks)
    return found
