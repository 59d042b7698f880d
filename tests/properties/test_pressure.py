"""Bounds of drawn problems: never more than a plan needs, and as much for as many of them as before."""

from itertools import combinations
from random import Random

import pytest

from tests.support.problems import buffer, problem
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.audit.crowd import shared_extent
from usmp_build.planner.memory.extent import least_extent
from usmp_build.planner.memory.plan import peaks
from usmp_build.planner.memory.pressure import pressure
from usmp_build.planner.memory.problem import Problem


def drawn(seed: int, pools: int) -> Problem:
    """A few buffers with lives, some of two, some without a step; some pairs may overlap."""
    draw = Random(seed)
    alignments = draw.choice(((1,), (4,), (2, 4), (1, 2, 8)))
    buffers = []
    for name in "abcdef"[: draw.randrange(2, 7)]:
        ends = sorted(draw.sample(range(9), draw.choice((0, 2, 2, 2, 4))))
        size = draw.choice((0, 1, 3, 4, 7, 8, 12, 17))
        lives = tuple(zip(ends[::2], ends[1::2], strict=True))
        buffers.append(buffer(name, size, range(pools), alignment=draw.choice(alignments), intervals=lives))
    conflicts = [
        (one.name, other.name)
        for one, other in combinations(buffers, 2)
        if not (one.intervals and other.intervals)
        or any(a < d and c < b for a, b in one.intervals for c, d in other.intervals)
    ]
    sizes = {each.name: each.size for each in buffers}
    near = {(a, b): draw.randrange(-4, sizes[a] + 1) for a, b in conflicts if sizes[a] and draw.random() < 0.5}
    near |= {(b, a): draw.randrange(-4, sizes[b] + 1) for a, b in conflicts if sizes[b] and draw.random() < 0.2}
    names = {f"p{pool}": None for pool in range(pools)}
    return problem(buffers, conflicts, names, near if draw.random() < 0.7 else {})


@pytest.mark.parametrize(("pools", "count", "tight"), [(1, 300, 262), (2, 60, 52)])
def test_a_bound_is_no_more_than_a_plan_needs_and_often_as_much(pools: int, count: int, tight: int) -> None:
    exact = 0
    for seed in range(count):
        stated = drawn(seed, pools)
        plan = Auto()(stated)
        assert plan is not None
        witness = pressure(stated, range(len(stated.buffers)), pools)
        assert witness.bytes <= sum(peaks(stated, plan)), stated
        exact += witness.bytes == sum(peaks(stated, plan))
    assert exact == tight


@pytest.mark.parametrize("seed", range(60))
def test_orders_of_more_buffers_as_the_auditor_finds_them(seed: int) -> None:
    """Groups of which some share no bytes, such as rows, and separations that go around in circles."""
    draw = Random(seed)
    sizes = [draw.randint(1, 9) for _ in range(draw.randint(3, 6))]
    apart = {
        (a, b): draw.choice((sizes[a], sizes[a], draw.randint(-3, sizes[a]), draw.randint(0, 2 * sizes[a])))
        for a in range(len(sizes))
        for b in range(len(sizes))
        if a != b
    }
    assert least_extent(sizes, lambda a, b: apart[a, b]) == shared_extent(sizes, apart)
