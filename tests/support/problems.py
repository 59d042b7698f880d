"""Memory problems for tests: in a few words, from files, and shuffled."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from usmp_build.memory.plan import Allocation, Plan
from usmp_build.memory.problem import Buffer, Pool, Problem

CASES = sorted((Path(__file__).parents[1] / "cases" / "usmp").glob("*.json"))
"""Problems with known answers: `best` are the peaks of the best plan, null if there is none."""


def problem(
    buffers: Iterable[Buffer],
    conflicts: Iterable[tuple[str, str]] | None = None,
    pools: Mapping[str, int | None] | None = None,
    separations: Mapping[tuple[str, str], int] | None = None,
) -> Problem:
    """State a problem by names; without `conflicts`, all buffers conflict."""
    listed = tuple(buffers)
    index = {buffer.name: i for i, buffer in enumerate(listed)}
    found: list[set[int]] = [set() for _ in listed]
    for a, b in combinations(index, 2) if conflicts is None else conflicts:
        found[index[a]].add(index[b])
        found[index[b]].add(index[a])
    return Problem(
        tuple(Pool(name, limit) for name, limit in (pools or {"ram": None}).items()),
        listed,
        tuple(tuple(sorted(others)) for others in found),
        {(index[a], index[b]): bytes_ for (a, b), bytes_ in (separations or {}).items()},
    )


def buffer(name: str, size: int, pools: Sequence[int] = (0,), **facts: Any) -> Buffer:
    """Return a buffer; the pool is the first one if nothing else is said."""
    return Buffer(name, size, tuple(pools), **facts)


def alive(lives: Mapping[str, tuple[int, int, int]], **facts: Any) -> Problem:
    """State a problem of one pool by lives: name → (first step, step after the last, size)."""
    buffers = [buffer(name, size, intervals=((start, stop),), **facts) for name, (start, stop, size) in lives.items()]
    pairs = combinations(lives.items(), 2)
    return problem(buffers, [(a, b) for (a, x), (b, y) in pairs if x[0] < y[1] and y[0] < x[1]])


def load(path: Path) -> tuple[Problem, dict[str, int] | None]:
    """Read a case: the problem, and the peaks of its best plan."""
    case = json.loads(path.read_text("utf-8"))
    numbers = {name: index for index, name in enumerate(case["pools"])}
    buffers = [
        buffer(
            entry["name"],
            entry["size"],
            [numbers[name] for name in entry.get("pools", numbers)],
            alignment=entry.get("alignment", 1),
            intervals=tuple((start, stop) for start, stop in entry.get("intervals", ())),
        )
        for entry in case["buffers"]
    ]
    conflicts = [(entry["name"], other) for entry in case["buffers"] for other in entry["conflicts"]]
    return problem(buffers, conflicts, case["pools"]), case["best"]


def shuffled(original: Problem, seed: int) -> Problem:
    """State the same problem with its buffers in another order."""
    order = list(range(len(original.buffers)))
    random.Random(seed).shuffle(order)
    position = {old: new for new, old in enumerate(order)}
    return Problem(
        original.pools,
        tuple(original.buffers[old] for old in order),
        tuple(tuple(sorted(position[other] for other in original.conflicts[old])) for old in order),
        {(position[a], position[b]): value for (a, b), value in original.separations.items()},
    )


def offsets(stated: Problem, plan: Plan | None) -> dict[str, int]:
    """Return the offset of each buffer by name."""
    assert plan is not None
    return {buffer.name: place.offset for buffer, place in zip(stated.buffers, plan.allocations, strict=True)}


def places(stated: Problem, plan: Plan | None) -> dict[str, tuple[str, int]]:
    """Return pool and offset of each buffer by name."""
    assert plan is not None
    pairs = zip(stated.buffers, plan.allocations, strict=True)
    return {buffer.name: (stated.pools[place.pool].name, place.offset) for buffer, place in pairs}


def by_hand(*allocations: int | tuple[int, int]) -> Plan:
    """Write down a plan: offsets in the first pool, or pairs of pool and offset."""
    pairs = ((0, place) if isinstance(place, int) else place for place in allocations)
    return Plan("by hand", tuple(Allocation(*pair) for pair in pairs))
