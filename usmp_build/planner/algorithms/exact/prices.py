"""What a unit of room is worth: a price for each section of each limited pool, and the lower bound that follows.

Let every item pay for the room that it takes, and give back the price of all room there is.  An assignment that keeps
to the room pays no more than it gets back, so for any prices of at least 0

    least cost  >=  least of (cost + payments)  -  price of all room

This is Lagrangian relaxation (Geoffrion, Mathematical Programming Study 2, 1974).  The least on the right side is what
`diagram` bounds.  Prices rise where its choices want more room than there is, and fall where they leave some: a
subgradient method (Held and Karp, Mathematical Programming 1, 1971), whose steps are as long as Polyak (1969) has it,
times a factor that shrinks while nothing gets better:

    step  =  factor * (cost of a plan that is known - bound) / sum of (load - room)^2 over all sections
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from usmp_build.planner.algorithms.exact.choices import Choices
from usmp_build.planner.algorithms.exact.diagram import Diagram

FINE = 1 << 20
"""Costs and prices are counted in such parts, so that prices can be whole."""
_PATIENCE = 4
"""Steps without success before they become shorter."""
_STEP = 16
"""Of so many sixteenths is a step at first, compared with Polyak's."""
_SPEED = 128
"""States that a diagram visits in the time of a node."""


@dataclass(slots=True)
class Prices:
    """The best prices so far."""

    choices: Choices
    rooms: Mapping[int, int]
    """Limited pool → units."""
    prices: dict[int, list[int]] = field(default_factory=dict)
    """Limited pool → price of a unit, section by section."""
    bound: int = 0
    """No assignment costs less; in whole costs, not in parts.  Proven."""
    impossible: bool = False
    """No assignment leaves enough room: proven."""


def no_prices(choices: Choices, limits: Mapping[int, int | None]) -> Prices:
    """Begin with room that costs nothing; `limits`: pool → bytes."""
    rooms = {pool: choices.room(limit) for pool, limit in limits.items() if limit is not None}
    return Prices(choices, rooms, {pool: [0] * choices.sections for pool in rooms}, choices.least)


def improve(known: Prices, target: int | None, width: int, passes: int, nodes: int) -> int:
    """Raise the bound, towards `target` if a cost is known to be possible, by diagrams of some width.

    Gives up after so many passes, or before they take longer than so many nodes of a search.  Return how many nodes
    would have taken as long.
    """
    diagram = Diagram(known.choices, known.rooms)
    each = 1 + len(known.choices.members) * (width + 8) // _SPEED
    current = {pool: list(prices) for pool, prices in known.prices.items()}
    best: int | None = None
    done, step, idle = 0, _STEP, 0
    for _ in range(min(passes, nodes // each)):
        done += each
        found = diagram.cheapest(reduced(known.choices, current), width)
        if found is None:
            known.impossible = True
            break
        total, chosen = found
        value = total - _income(known.rooms, current)
        if best is None or value > best:
            best, idle = value, 0
            known.prices = {pool: list(prices) for pool, prices in current.items()}
            known.bound = max(known.bound, -(-value // FINE))
        else:
            idle += 1
        goal = 2 * abs(known.bound) + FINE if target is None else target
        if known.bound >= goal or step == 0:
            break
        if idle == _PATIENCE:
            idle, step = 0, step * 2 // 3
            current = {pool: list(prices) for pool, prices in known.prices.items()}
        _walk(known, current, chosen, max(1, goal * FINE - value) * step // _STEP)
    return done


def _walk(known: Prices, current: dict[int, list[int]], chosen: Sequence[int], missing: int) -> None:
    """Change prices so that, if loads stayed as they are, the bound would rise by `missing`."""
    over = _overload(known, chosen)
    for pool, some in over.items():
        for section, units in enumerate(some):
            if units < 0 and not current[pool][section]:
                some[section] = 0
    square = sum(units * units for some in over.values() for units in some)
    if square:
        for pool, some in over.items():
            prices = current[pool]
            for section, units in enumerate(some):
                prices[section] = max(0, prices[section] + missing * units // square)


def _overload(known: Prices, chosen: Sequence[int]) -> dict[int, list[int]]:
    """Return by how much each section's load exceeds the room."""
    changes = {pool: [0] * (known.choices.sections + 1) for pool in known.rooms}
    for item, which in enumerate(chosen):
        pool = known.choices.pools[item][which]
        if pool in changes:
            for first, last, units in known.choices.spans[item]:
                changes[pool][first] += units
                changes[pool][last + 1] -= units
    return {pool: [load - known.rooms[pool] for load in accumulate(some[:-1])] for pool, some in changes.items()}


def reduced(choices: Choices, prices: Mapping[int, Sequence[int]]) -> list[tuple[int, ...]]:
    """Return for each item and each of its pools the cost with payments, in parts."""
    sums = {pool: list(accumulate(some, initial=0)) for pool, some in prices.items()}
    found = []
    for pools, costs, spans in zip(choices.pools, choices.costs, choices.spans, strict=True):
        own = []
        for pool, cost in zip(pools, costs, strict=True):
            total = cost * FINE
            if pool in sums:
                price = sums[pool]
                total += sum(units * (price[last + 1] - price[first]) for first, last, units in spans)
            own.append(total)
        found.append(tuple(own))
    return found


def _income(rooms: Mapping[int, int], prices: Mapping[int, Sequence[int]]) -> int:
    return sum(rooms[pool] * sum(some) for pool, some in prices.items())
