"""Enumerates orders of jobs with small peaks, smallest first.

The smallest peak is only a bound: plans may not reach it, and another order with the same or a slightly higher peak may
give a better plan.  The least peak from a set of done jobs to the end does not depend on the order of the jobs in it.
With that precomputed for all sets, the search never backtracks: each of its steps is part of an order that it returns.
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
    """Smallest peaks first."""
    are_all: bool
    """Whether there are no others."""


def orders_below(jobs: Jobs, limit: int, most: int, states: int = effort.ORDER_STATES) -> Below:
    """Return up to `most` orders with a peak below `limit`; none where more than `states` sets of jobs lead there."""
    space = States(jobs)
    steps = _steps(space, limit, states)
    if steps is None:
        return Below((), are_all=False)
    peaks_to_end = _peaks_to_end(steps, space.every)
    bound = max(space.first.peak, peaks_to_end.get(0, limit))  # lower bound on the peak of any order
    open_: list[tuple[int, int, tuple[int, ...], int]] = [(bound, 0, (), 0)] if bound < limit else []
    orders: list[Order] = []
    while open_ and len(orders) < most:
        peak, left, order, done = heappop(open_)
        if done == space.every:
            orders.append(Order(order, peak, bound))
        for job, alive in steps[done]:
            with_job = done | 1 << job
            if with_job in peaks_to_end and (next_peak := max(peak, alive, peaks_to_end[with_job])) < limit:
                heappush(open_, (next_peak, left - 1, (*order, job), with_job))
    return Below(tuple(orders), are_all=not open_)


def _steps(space: States, limit: int, most: int) -> dict[int, list[_Step]] | None:
    """Return the steps from each reachable set of jobs, small sets first; None if there are more than `most` sets."""
    level = {0: space.first}
    steps_from: dict[int, list[_Step]] = {}
    while level:
        following: dict[int, State] = {}
        for done, state in level.items():
            steps_from[done] = []
            for job in members_of(state.ready):
                with_job = done | 1 << job
                successor = space.after(state._replace(peak=0), job, with_job)
                if successor.peak < limit:
                    following[with_job] = successor
                    steps_from[done].append((job, successor.peak))
        if len(steps_from) + len(following) > most:
            return None
        level = following
    return steps_from


def _peaks_to_end(steps: dict[int, list[_Step]], all_jobs: int) -> dict[int, int]:
    """Return for each set of jobs that can lead to the end the smallest peak from there on."""
    peaks_to_end = {all_jobs: 0} if all_jobs in steps else {}
    for done in reversed(steps):
        following = ((done | 1 << job, alive) for job, alive in steps[done])
        peaks = [max(alive, peaks_to_end[then]) for then, alive in following if then in peaks_to_end]
        if peaks:
            peaks_to_end[done] = min(peaks)
    return peaks_to_end
