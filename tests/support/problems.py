"""Memory problems for tests: in a few words, from files, shuffled, and by chance."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Buffer, Pool, Problem

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
    neighbors: list[set[int]] = [set() for _ in listed]
    for a, b in combinations(index, 2) if conflicts is None else conflicts:
        neighbors[index[a]].add(index[b])
        neighbors[index[b]].add(index[a])
    return Problem(
        tuple(Pool(name, limit) for name, limit in (pools or {"ram": None}).items()),
        listed,
        tuple(tuple(sorted(others)) for others in neighbors),
        {(index[a], index[b]): bytes_ for (a, b), bytes_ in (separations or {}).items()},
    )


def buffer(name: str, size: int, pools: Sequence[int] = (0,), **facts: Any) -> Buffer:
    """Return a buffer; the pool is the first one by default."""
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


def every_plan(stated: Problem, height: int, placed: tuple[Allocation, ...] = ()) -> Iterator[Plan]:
    """Yield every sound plan below a height, those of `placed` being where they are."""
    index = len(placed)
    if index == len(stated.buffers):
        yield Plan("any", placed)
        return
    known = stated.buffers[index]
    for pool in known.pools:
        limit = stated.pools[pool].limit
        end = height if limit is None else min(limit, height)
        for offset in range(0, end - known.size + 1, known.alignment):
            place = Allocation(pool, offset)
            near = (other for other in stated.conflicts[index] if other < index)
            fixed = known.offset is None or known.offset == offset
            if fixed and all(may_meet(stated, index, place, other, placed[other]) for other in near):
                yield from every_plan(stated, height, (*placed, place))


def may_meet(stated: Problem, a: int, place_a: Allocation, b: int, place_b: Allocation) -> bool:
    """The rule for pairs in conflict as the design states it."""
    ahead = place_b.offset - place_a.offset
    return place_a.pool != place_b.pool or ahead >= stated.separation(a, b) or -ahead >= stated.separation(b, a)


def tiny(seed: int, most: int = 6, largest: int = 7) -> Problem:
    """Make up a problem that is small enough to try everything, and has something of all that a problem may have."""
    chance = random.Random(seed)
    pools = {f"pool{i}": chance.choice([None, chance.randint(0, 24)]) for i in range(chance.choice([1, 1, 2, 3]))}
    names = chance.sample([f"b{i}" for i in range(most)], max(chance.randint(0, most), chance.randint(0, most)))
    alignments = chance.choice([[1], [4], [1, 1, 2, 3, 4]])
    buffers = [_tiny_buffer(chance, name, len(pools), chance.choice(alignments), largest) for name in names]
    density = chance.choice([0.3, 0.6, 0.9, 1])
    conflicts = [
        (a.name, b.name) for a, b in combinations(buffers, 2) if _alive_together(a, b) or chance.random() < density
    ]
    looseness = chance.choice([0, 0.2, 0.6])
    separations = {
        (low.name, high.name): chance.randint(-4, low.size)
        for low, high in permutations(buffers, 2)
        if {(low.name, high.name), (high.name, low.name)} & set(conflicts) and chance.random() < looseness
    }
    return problem(buffers, conflicts, pools, separations)


def _tiny_buffer(chance: random.Random, name: str, pools: int, alignment: int, largest: int) -> Buffer:
    candidates = tuple(chance.sample(range(pools), chance.randint(1, pools)))
    costs = chance.choice([(), tuple(chance.randint(0, 4) for _ in candidates)])
    steps = sorted(chance.sample(range(9), chance.choice([0, 2, 2, 4])))
    intervals = tuple(zip(steps[::2], steps[1::2], strict=True))
    size, offset = chance.choice([chance.randint(1, largest), chance.randint(0, largest)]), None
    if chance.random() < 0.12:
        offset = chance.randint(0, 12) // alignment * alignment + chance.choice([0, 0, 0, 0, 1])
    return Buffer(name, size, candidates, costs, alignment, intervals, offset)


def _alive_together(a: Buffer, b: Buffer) -> bool:
    pairs = product(a.intervals, b.intervals)
    return any(start < other_stop and other < stop for (start, stop), (other, other_stop) in pairs)
