"""First fit in several orders, each improved by "squeaky wheel" search; the best plan wins.

The buffers that a plan treats badly move forward in the order, to half their position, and first fit runs again.
These are the one that found no room; if all did, those that are not in their cheapest pool; if there are none, those
at the peak of a pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from usmp_build import effort
from usmp_build.planner.algorithms.first_fit import Attempt, FirstFit
from usmp_build.planner.algorithms.greedy import Order, backwards, by_conflicts, by_size, forwards
from usmp_build.planner.memory.bounds import pressure
from usmp_build.planner.memory.clique import is_clique
from usmp_build.planner.memory.components import components
from usmp_build.planner.memory.plan import Allocation, Plan, rank, tops
from usmp_build.planner.memory.problem import Buffer, Problem


def by_load(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by the bytes of them and all their conflicts, then size, both descending; then by name."""
    all_buffers, members = problem.buffers, list(buffers)
    if is_clique(problem, members):  # their loads are equal
        return by_size(problem, members)
    sizes = [buffer.size for buffer in all_buffers]
    loads = {i: sizes[i] + sum(map(sizes.__getitem__, problem.conflicts[i])) for i in members}
    return sorted(loads, key=lambda i: (-loads[i], -all_buffers[i].size, all_buffers[i].name))


def by_cost(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by extra cost per byte in the second cheapest pool, then size, both descending; then by name."""
    all_buffers = problem.buffers
    return sorted(buffers, key=lambda i: (-_extra_cost(all_buffers[i]), -all_buffers[i].size, all_buffers[i].name))


def _extra_cost(buffer: Buffer) -> float:
    """Return the extra cost of one byte in the second cheapest pool; 0 where there is none."""
    cheapest, *others = sorted(map(buffer.cost_in, buffer.pools))
    return (others[0] - cheapest) / max(1, buffer.size) if others else 0.0


_ORDERS: dict[str, Order] = {
    "greedy_by_size": by_size,
    "greedy_by_conflicts": by_conflicts,
    "greedy_by_load": by_load,
    "greedy_by_cost": by_cost,
}
_ORDERS_WITH_OVERLAPS: dict[str, Order] = {"greedy_backwards": backwards, "greedy_forwards": forwards}
"""Further orders, for problems with separations."""


def portfolio(problem: Problem, rounds: int = 64, work: int = effort.PORTFOLIO_VISITS) -> Plan | None:
    """Return the best plan found, None when there is none; `Plan.algorithm` names the orders that it comes from.

    Each component is planned by itself, for components do not conflict.  Each order is improved `rounds` times at
    most; `work` bounds the visits to conflicts and buffers, for each component.
    """
    placed: dict[int, Allocation] = {}
    winners: set[str] = set()
    for component in components(problem, range(len(problem.buffers))):
        best = _best(problem, component, rounds, work)
        if best is None:
            return None
        winner, attempt = best
        winners.add(winner)
        placed.update(attempt.placed)
    return Attempt(placed).plan(", ".join(sorted(winners)))


def _best(problem: Problem, component: Sequence[int], rounds: int, work: int) -> tuple[str, Attempt] | None:
    """Return the best attempt in which no buffer is stuck, and the name of its order."""
    visits = len(component) + sum(len(problem.conflicts[index]) for index in component)
    ideal = _ideal(problem, component)
    best: tuple[tuple[int, ...], str, Attempt] | None = None
    count = max(1, work // visits)
    for name, attempt in islice(_attempts(problem, component, rounds), count):
        if attempt.stuck is None:
            ranked = rank(problem, attempt.placed)
            if best is None or ranked < best[0]:
                best = (ranked, name, attempt)
            if ranked <= ideal:
                break
    return best[1:] if best else None


def _attempts(problem: Problem, component: Sequence[int], rounds: int) -> Iterator[tuple[str, Attempt]]:
    """Yield attempts, in all orders by turns, as long as improvement changes the order."""
    order_functions = _ORDERS | (_ORDERS_WITH_OVERLAPS if problem.separations else {})
    orders = {name: order(problem, component) for name, order in order_functions.items()}
    fitted = FirstFit(problem, component)
    suffix = ""
    for _ in range(1 + max(0, rounds)):
        for name, order in list(orders.items()):
            attempt = fitted(order)
            yield name + suffix, attempt
            orders[name] = _promoted(order, _badly_treated(problem, attempt))
            if orders[name] == order:
                del orders[name]
        if not orders:
            return
        suffix = " (improved)"


def _badly_treated(problem: Problem, attempt: Attempt) -> set[int]:
    if attempt.stuck is not None:
        return {attempt.stuck}
    costly = {i for i, place in attempt.placed.items() if place.pool != problem.buffers[i].cheapest_pools[0]}
    highest = tops(problem, attempt.placed)
    ends = {i: place.offset + problem.buffers[i].size for i, place in attempt.placed.items()}
    return costly or {i for i, place in attempt.placed.items() if ends[i] == highest[place.pool]}


def _promoted(order: Sequence[int], promoted: set[int]) -> list[int]:
    """Move `promoted` buffers to half their position, ahead of those that are there."""
    positions = {index: (k // 2, 0) if index in promoted else (k, 1) for k, index in enumerate(order)}
    return sorted(order, key=lambda index: positions[index])


def _ideal(problem: Problem, component: Sequence[int]) -> tuple[int, ...]:
    """Return the rank of a plan with every buffer in its cheapest pool, and every pool at the resulting lower bound."""
    inside: list[list[int]] = [[] for _ in problem.pools]
    cost = 0
    for index in component:
        pool = problem.buffers[index].cheapest_pools[0]
        inside[pool].append(index)
        cost += problem.buffers[index].cost_in(pool)
    peaks = [pressure(problem, members).bytes for members in inside]
    return (cost, sum(peaks), *reversed(peaks))
