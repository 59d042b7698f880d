"""Sections of conflicts without a timeline: few buffers are open at once, so that diagrams are exact."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.support.problems import buffer, problem
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.algorithms.exact.narrow import narrowed
from usmp_build.planner.algorithms.hill_climb import HillClimb
from usmp_build.planner.library import Status, solve
from usmp_build.planner.memory.limits import with_limits
from usmp_build.planner.memory.plan import peaks, quality
from usmp_build.planner.memory.problem import Problem


def test_a_chain_is_two_wide() -> None:
    """Sections are pairs of a chain 0 - 1 - ... - 9, in any order; a buffer is then in two adjacent ones."""
    places = list(range(9))
    random.Random(1).shuffle(places)
    rows: list[list[tuple[int, int, int]]] = [[] for _ in range(10)]
    for place, (a, b) in zip(places, pairwise(range(10)), strict=True):
        rows[a].append((place, place, 3 + a))
        rows[b].append((place, place, 3 + b))
    narrow = narrowed([tuple(sorted(row)) for row in rows], 9)
    assert all(last - first <= 1 for ((first, last, _),) in narrow)
    assert [units for ((_, _, units),) in narrow] == [3 + index for index in range(10)]
    assert {(first, last) for ((first, last, _),) in narrow} >= {(0, 1), (7, 8)}


def test_sections_that_are_narrow_stay() -> None:
    spans = [((0, 1, 5),), ((1, 2, 4),), ((2, 2, 3),)]
    assert narrowed(spans, 3) == spans


def sparse(seed: int, count: int = 120) -> Problem:
    """A random tree with a few more pairs, a fast pool as large as the largest buffers, and a slow one."""
    chance = random.Random(seed)
    sizes = [chance.randint(1_000, 65_000) for _ in range(count)]
    pairs = {(str(chance.randrange(i)), str(i)) for i in range(1, count)}
    pairs |= {tuple(map(str, sorted(chance.sample(range(count), 2)))) for _ in range(3)}  # type: ignore[arg-type]
    buffers = [buffer(str(i), size, (0, 1), costs=(0, size)) for i, size in enumerate(sizes)]
    return problem(buffers, pairs, {"fast": 65_535, "slow": None})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_no_limit_and_no_algorithm_gives_a_better_plan(seed: int) -> None:
    stated = sparse(seed)
    best = solve(stated)
    assert best.status is Status.OPTIMAL
    assert best.plan is not None
    least = quality(stated, best.plan)
    climbed = HillClimb(rounds=500)(stated)
    assert climbed is not None
    assert least <= quality(stated, climbed)
    fast, slow = peaks(stated, best.plan)
    for limits in [(fast, slow), (fast - 1, None), (65_535, slow - 1), (65_535, slow * 3 // 4)]:
        other = Auto()(with_limits(stated, limits))
        assert other is None or least <= quality(stated, other)


def test_names_and_order_of_buffers_mean_nothing() -> None:
    stated = sparse(4)
    order = list(range(len(stated.buffers)))
    random.Random(2).shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    other = replace(
        stated,
        buffers=tuple(stated.buffers[old] for old in order),
        conflicts=tuple(tuple(sorted(place[o] for o in stated.conflicts[old])) for old in order),
    )
    assert solve(other).peaks == solve(stated).peaks
