"""Prices of room in each section of each limited pool, and the lower bound of costs that follows from them.

Let every item pay for the room that it takes, and refund the price of all room there is.  An assignment that fits the
room pays no more than is refunded, so for any prices of at least 0

    least cost  >=  least of (cost + payments)  -  price of all room

This is Lagrangian relaxation (Geoffrion, Mathematical Programming Study 2, 1974).  The least on the right side is what
`diagram` bounds.  Prices rise where its choices take more room than there is, and fall where they leave some: a
subgradient method (Held and Karp, Mathematical Programming 1, 1971) with Polyak's step length (1969), times a factor
that shrinks while nothing improves:

    step  =  factor * (cost of a known plan - bound) / sum of (load - room)^2 over all sections
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from usmp_build.planner.algorithms.exact.choices import Choices
from usmp_build.planner.algorithms.exact.diagram import Diagram

FINE = 1 << 20
"""Parts of one unit of cost in which costs and prices are counted, so that prices can be integers."""
_PATIENCE = 4
"""Steps without improvement before they become shorter."""
_STEP = 16
"""The first factor, in sixteenths: as long as Polyak's steps."""
_SPEED = 128
"""States of a diagram that take as long as a node of a search."""


@dataclass(slots=True)
class Prices:
    """The best prices so far, and what they prove."""

    choices: Choices
    rooms: Mapping[int, int]
    """Limited pool → units."""
    prices: dict[int, list[int]] = field(default_factory=dict)
    """Limited pool → price of a unit, section by section."""
    bound: int = 0
    """A lower bound of the cost of every assignment, in whole costs, not in parts; proven."""
    chosen: tuple[int, ...] = ()
    """The pool of each item in the assignment that gave the bound; it may take more room than there is."""
    impossible: bool = False
    """Whether it is proven that no assignment fits the room."""


def no_prices(choices: Choices, limits: Mapping[int, int | None]) -> Prices:
    """Return prices of 0; `limits`: pool → bytes."""
    rooms = {pool: choices.room(limit) for pool, limit in limits.items() if limit is not None}
    return Prices(choices, rooms, {pool: [0] * choices.sections for pool in rooms}, choices.least)


def improve(best_prices: Prices, target: int | None, width: int, passes: int, nodes: int) -> int:
    """Raise the bound, towards `target` if a possible cost is known, by diagrams of at most `width` states.

    Gives up after `passes` passes, or before they take longer than `nodes` nodes of a search.  Return the work, in
    such nodes.
    """
    diagram = Diagram(best_prices.choices, best_prices.rooms)
    cost = 1 + len(best_prices.choices.members) * (width + 8) // _SPEED
    current = {pool: list(prices) for pool, prices in best_prices.prices.items()}
    best: int | None = None
    work, step, idle = 0, _STEP, 0
    for _ in range(min(passes, nodes // cost)):
        work += cost
        result = diagram.cheapest(reduced(best_prices.choices, current), width)
        if result is None:
            best_prices.impossible = True
            break
        total, chosen = result
        value = total - sum(best_prices.rooms[pool] * sum(values) for pool, values in current.items())
        if best is None or value > best:
            best, idle = value, 0
            best_prices.prices = {pool: list(prices) for pool, prices in current.items()}
            best_prices.bound = max(best_prices.bound, -(-value // FINE))
            best_prices.chosen = best_prices.choices.where(chosen)
        else:
            idle += 1
        goal = 2 * abs(best_prices.bound) + FINE if target is None else target
        if best_prices.bound >= goal or step == 0:
            break
        if idle == _PATIENCE:
            idle, step = 0, step * 2 // 3
            current = {pool: list(prices) for pool, prices in best_prices.prices.items()}
        _walk(best_prices, current, chosen, max(1, goal * FINE - value) * step // _STEP)
    return work


def _walk(best_prices: Prices, current: dict[int, list[int]], chosen: Sequence[int], missing: int) -> None:
    """Change prices so that, if loads stayed as they are, the bound would rise by `missing`."""
    over = _overload(best_prices, chosen)
    for pool, excess in over.items():
        for section, units in enumerate(excess):
            if units < 0 and not current[pool][section]:
                excess[section] = 0
    square = sum(units * units for excess in over.values() for units in excess)
    if square:
        for pool, excess in over.items():
            prices = current[pool]
            for section, units in enumerate(excess):
                prices[section] = max(0, prices[section] + missing * units // square)


def _overload(prices: Prices, chosen: Sequence[int]) -> dict[int, list[int]]:
    """Return by how many units the load of each section exceeds the room; negative where room is left."""
    changes = {pool: [0] * (prices.choices.sections + 1) for pool in prices.rooms}
    for item, which in enumerate(chosen):
        pool = prices.choices.pools[item][which]
        if pool in changes:
            for first, last, units in prices.choices.spans[item]:
                changes[pool][first] += units
                changes[pool][last + 1] -= units
    return {pool: [load - prices.rooms[pool] for load in accumulate(deltas[:-1])] for pool, deltas in changes.items()}


def reduced(choices: Choices, prices: Mapping[int, Sequence[int]]) -> list[tuple[int, ...]]:
    """Return for each item and each of its pools the cost with payments, in parts of 1 / `FINE`."""
    sums = {pool: list(accumulate(values, initial=0)) for pool, values in prices.items()}
    rows = []
    for pools, costs, spans in zip(choices.pools, choices.costs, choices.spans, strict=True):
        row = []
        for pool, cost in zip(pools, costs, strict=True):
            total = cost * FINE
            if pool in sums:
                price = sums[pool]
                total += sum(units * (price[last + 1] - price[first]) for first, last, units in spans)
            row.append(total)
        rows.append(tuple(row))
    return rows
