"""Searches for each model the order of its operators with the lowest peak of live bytes.

Each model and each step is considered separately, with the overlap that the better direction of its operator allows,
so the peak of an order is a lower bound for its plans.  Only planning shows whether a plan reaches it.

The smallest peak is only a bound: plans may not reach it, and another order with the same or a slightly higher peak may
give a better plan.  So `orders_below` enumerates orders with small peaks, smallest first.  The least peak from a set of
done jobs to the end does not depend on the order of the jobs in it.  With that precomputed for all sets, the
search never backtracks: each of its steps is part of an order that it returns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import field, replace
from heapq import heappop, heappush

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.passes.effects import bits_of, members_of
from usmp_build.passes.order.edge_rows import EdgeRows
from usmp_build.passes.order.jobs import jobs_of
from usmp_build.passes.order.lazy import Lazy
from usmp_build.passes.order.search import Order, best_order
from usmp_build.passes.order.states import Jobs, OrderState, States, bytes_of, confined
from usmp_build.planner.memory.pressure import pressure
from usmp_build.request import Request


@frozen
class ModelOrders:
    """The result of the search for one model; orders are of the operators of main that run."""

    best: tuple[int, ...] | None
    """The best order of the search; None: that is the file's order."""
    best_peak: int
    """The bytes alive at the fullest step of that order, without persistent buffers."""
    bound: int
    """Bytes that every order needs, whatever the directions, without persistent buffers."""
    floor: int
    """Bytes that are alive when a run begins, or when it ends, without persistent buffers."""
    operators: tuple[int, ...]
    """The operators in the order of the file."""
    jobs: Jobs | None = field(repr=False)
    """None: the operators must stay in the order of the file."""

    def stretches(self, most: int) -> tuple[tuple[int, ...], ...]:
        """Return the operators in stretches with a peak of at most `most` bytes; empty if no lazy order has one.

        A stretch of one operator is to run as a whole; others name each operator once for each of its jobs.
        """
        if self.jobs is None:
            return ()
        stretches = Lazy(self.jobs, self.operators).shortest(most + 1)
        named = (tuple(self.operators[job] for job in each.jobs) for each in stretches)
        return tuple(each if len({*each}) > 1 else each[:1] for each in named)

    def below(self, limit: int | None, most: int) -> Below:
        """Return up to `most` orders with a peak below `limit` bytes (None: no limit), lowest peaks first."""
        if self.jobs is None:
            return Below((), are_all=False)
        below = orders_below(self.jobs, 1 + sum(self.jobs.sizes) if limit is None else limit, most)
        orders = (replace(each, order=tuple(self.operators[job] for job in each.order)) for each in below.orders)
        return Below(tuple(orders), below.are_all)


def model_orders(request: Request, analysis: Analysis) -> tuple[ModelOrders | None, ...]:
    """Search the orders of each model; None for one without operators.  `analysis` must be of the files' orders."""
    return tuple(orders_of_model(request, analysis, index) for index in range(len(request.models)))


def orders_of_model(request: Request, analysis: Analysis, index: int, enough: int = 0) -> ModelOrders | None:
    """Search the orders of one model as `model_orders` does; a peak of `enough` bytes ends the search."""
    if not analysis.models[index].main.operators:
        return None
    jobs, operators = jobs_of(analysis, index)
    has_rows = _has_rows(operators)
    best = best_order(jobs, seeds=[Lazy(jobs, operators).lowest()] if has_rows else [], enough=enough)
    floor = max(bytes_of(jobs.sizes, ports) for ports in (jobs.before, jobs.after))
    if not request.models[index].free_order:
        return ModelOrders(None, best.peak, best.bound, floor, operators, None)
    order = tuple(operators[job] for job in best.order)
    return ModelOrders(None if order == operators else order, best.peak, best.bound, floor, operators, jobs)


def least_workspace(analysis: Analysis, orders: Iterable[ModelOrders | None]) -> int:
    """Return a lower bound on bytes of workspace for these buffers, whatever the orders and directions."""
    needs = (
        _least_of_program(analysis, analysis.storage.workspace, index) if each is None else each.bound
        for index, each in enumerate(orders)
    )
    return workspace_always(analysis) + max(needs, default=0)


def least_bytes(request: Request, ways: Sequence[tuple[Analysis, Collection[int]]]) -> int:
    """Return a lower bound on the bytes that workspace buffers need in total, whatever the orders and directions.

    `ways` has an analysis for each way in which each model may run, all of the same firmware, and which of its buffers
    count.  Concurrent models need their bytes side by side.
    """
    of_ways = [(analysis, frozenset(members)) for analysis, members in ways]
    needs = [
        min(_least_of_model(request, analysis, members, index) for analysis, members in of_ways)
        for index in range(len(request.models))
    ]
    analysis, counted = of_ways[0]
    buffers = analysis.storage.buffers
    mixed = {model for index in counted if len(buffers[index].models) > 1 for model in buffers[index].models}
    always = sum(buffers[index].extent for index in counted.intersection(analysis.survivors.always))
    return always + max((_together(request, needs, first, mixed) for first in range(len(needs))), default=0)


def _together(request: Request, needs: Sequence[int], first: int, mixed: Collection[int]) -> int:
    """Return the bytes that `first` and models concurrent with it need; those in `mixed` share buffers."""
    group = [first]
    for model in sorted(range(len(needs)), key=lambda model: (-needs[model], model)):
        if first not in mixed and model not in mixed and all(request.are_concurrent(model, each) for each in group):
            group.append(model)
    return sum(needs[model] for model in group)


def _least_of_model(request: Request, analysis: Analysis, members: frozenset[int], index: int) -> int:
    """Return the same bound for one model, without persistent buffers."""
    if not analysis.models[index].main.operators:
        return _least_of_program(analysis, members, index)
    all_jobs, operators = jobs_of(analysis, index)
    rows = EdgeRows(analysis)
    jobs = confined(all_jobs, frozenset(members_of(rows.all(bits_of(members)))))
    if request.models[index].free_order:
        return best_order(jobs).bound
    return jobs.states.along(range(len(operators))).peak


def _least_of_program(analysis: Analysis, members: Collection[int], index: int) -> int:
    """Return the same bound for a program, whose statements have one order."""
    counted = (i for i in members if i not in analysis.survivors.always and index in analysis.storage.buffers[i].models)
    return pressure(analysis.problem, counted).bytes


def workspace_always(analysis: Analysis) -> int:
    """Return the bytes of workspace in buffers that are always alive."""
    buffers = (analysis.storage.buffers[index] for index in analysis.survivors.always)
    return sum(buffer.extent for buffer in buffers if buffer.kind is not Kind.CONSTANT)


def _has_rows(operators: Sequence[int]) -> bool:
    """Tell whether operators that each job names run row by row."""
    return len({*operators}) < len(operators)


_Step = tuple[int, int]
"""A job, and the bytes that are alive with it."""


@frozen
class Below:
    """Orders with peaks below a limit."""

    orders: tuple[Order, ...]
    """Smallest peaks first."""
    are_all: bool
    """Whether there are no others."""


def orders_below(jobs: Jobs, limit: int, most: int, states: int = effort.ORDER_STATES) -> Below:
    """Return up to `most` orders with a peak below `limit`; none where more than `states` sets of jobs lead there."""
    space = jobs.states
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
        following: dict[int, OrderState] = {}
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
