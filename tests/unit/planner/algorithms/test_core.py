"""The compiled core against brute force, and at the ends of its numbers: nothing wraps, nothing is confused."""

import random
from collections.abc import Iterable, Sequence
from itertools import product

import pytest

from benchmarks.solver.instances import tiling
from tests.support.problems import buffer, problem
from usmp_build.errors import UsmpError
from usmp_build.planner.algorithms.core import LARGEST, NO_LIMIT, NO_PLACE
from usmp_build.planner.algorithms.exact.one_pool import pack
from usmp_build.planner.algorithms.exact.searcher import Searcher
from usmp_build.planner.algorithms.exact.sections import make_strip
from usmp_build.planner.algorithms.exact.walks import Answer, Status, Walks, compiled
from usmp_build.planner.algorithms.first_fit import Attempt, FirstFit, first_fit
from usmp_build.planner.algorithms.near import reach
from usmp_build.planner.algorithms.sweep import swept
from usmp_build.planner.memory.clique import Others
from usmp_build.planner.memory.plan import Allocation, Plan, quality
from usmp_build.planner.memory.problem import Pool, Problem
from usmp_build.planner.memory.verify import violations

SIZES = (0, 1, 2, 3, 7, 8, 16, 40)
HUGE = (0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) + 1, 1 << 50, 1 << 55)
EDGES = (-(1 << 63) - 1, NO_PLACE, NO_PLACE + 1, -(1 << 62), -8, -2, -1)
"""Fixed offsets that no pool has."""


def drawn(chance: random.Random, sizes: Sequence[int] = SIZES) -> Problem:
    """A few buffers, mostly in conflict, some of which may overlap, some fixed; equal and empty ones among them."""
    count, pools = chance.randint(1, 7), chance.randint(1, 3)
    buffers = []
    for i in range(count):
        alignment = chance.choice((1, 1, 2, 4, 12, 16))
        start = chance.randint(0, 6)
        facts = {"alignment": alignment, "intervals": ((start, start + chance.randint(1, 4)),)}
        if chance.random() < 0.15:
            facts["offset"] = alignment * chance.randint(0, 20)
        inside = chance.sample(range(pools), chance.randint(1, pools))
        buffers.append(buffer(f"b{i}", chance.choice(sizes), inside, **facts))
    pairs = [(a, b) for a in range(count) for b in range(a) if chance.random() < 0.7]
    separations = {
        (low, high): chance.choice((0, -3, buffers[low].size // 2))
        for a, b in pairs
        for low, high in ((a, b), (b, a))
        if chance.random() < 0.2
    }
    near: list[list[int]] = [[] for _ in buffers]
    for a, b in pairs:
        near[a].append(b)
        near[b].append(a)
    limits = [chance.choice((None, 0, 30, 64, 200)) for _ in range(pools)]
    conflicts = tuple(tuple(sorted(others)) for others in near)
    return Problem(
        tuple(Pool(f"p{i}", limit) for i, limit in enumerate(limits)), tuple(buffers), conflicts, separations
    )


def fits(stated: Problem, index: int, offset: int, others: Iterable[tuple[int, int]]) -> bool:
    """Whether a buffer may be at an offset beside others of the same pool."""
    return all(
        at - offset >= stated.separation(index, other) or offset - at >= stated.separation(other, index)
        for other, at in others
        if other in stated.conflicts[index]
    )


def least(stated: Problem, index: int, pool: int, placed: dict[int, Allocation]) -> int | None:
    """The least offset of a buffer in a pool, by trying each that can be the least; None: its own is taken."""
    placing = stated.buffers[index]
    others = [(other, place.offset) for other, place in placed.items() if place.pool == pool]
    if placing.offset is not None:
        valid = placing.offset >= 0 and placing.offset % placing.alignment == 0
        return placing.offset if valid and fits(stated, index, placing.offset, others) else None
    ends = [0, *(at + stated.separation(other, index) for other, at in others)]
    starts = sorted(-(-end // placing.alignment) * placing.alignment for end in ends if end >= 0)
    return next(offset for offset in starts if fits(stated, index, offset, others))


def by_hand(stated: Problem, order: Iterable[int], *, overflow: bool) -> Attempt:
    """First fit as its definition says."""
    placed: dict[int, Allocation] = {}
    for index in sorted(order, key=lambda i: stated.buffers[i].offset is None):
        size = stated.buffers[index].size
        places = [(pool, least(stated, index, pool, placed)) for pool in stated.buffers[index].pools]
        beyond = [
            (max(0, at + size - limit) if (limit := stated.limits[pool]) is not None else 0, number)
            for number, (pool, at) in enumerate(places)
            if at is not None
        ]
        over, best = min(beyond, default=(1, 0))
        if not beyond or (over and not overflow):
            return Attempt(placed, index)
        pool, at = places[best]
        placed[index] = Allocation(pool, at or 0)
    return Attempt(placed)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [SIZES, HUGE], ids=["small", "huge"])
def test_first_fit_is_what_its_definition_says(seed: int, sizes: Sequence[int]) -> None:
    chance = random.Random(seed)
    for _ in range(400):
        stated = drawn(chance, sizes)
        order = chance.sample(range(len(stated.buffers)), len(stated.buffers))
        overflow = chance.random() < 0.5
        attempt = first_fit(stated, order, overflow=overflow)
        assert attempt == by_hand(stated, order, overflow=overflow)
        ends = [place.offset + stated.buffers[index].size for index, place in attempt.placed.items()]
        assert max(ends, default=0) <= reach(stated, range(len(order)))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_swept_is_sound_and_no_worse(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        stated = drawn(chance, chance.choice([SIZES, HUGE]))
        plan = first_fit(stated, range(len(stated.buffers))).plan("first")
        if plan is not None and not violations(stated, plan):
            better = swept(stated, plan, 10_000)
            assert not violations(stated, better)
            assert better == plan or quality(stated, better) < quality(stated, plan)


def least_peak(stated: Problem) -> int | None:
    """The least peak in the first pool, by trying all offsets below a plan that stacks all; None: there is no plan."""
    most = sum(each.size + each.alignment for each in stated.buffers) + max(each.offset or 0 for each in stated.buffers)
    ways = [[each.offset] if each.offset is not None else range(0, most, each.alignment) for each in stated.buffers]
    peaks = (
        max(at + each.size for at, each in zip(offsets, stated.buffers, strict=True))
        for offsets in product(*ways)
        if all(fits(stated, i, at, list(enumerate(offsets))[:i]) for i, at in enumerate(offsets))
    )
    return min(peaks, default=None)


def test_walks_find_the_least_peak() -> None:
    chance = random.Random(1)
    for _ in range(100):
        sizes = (0, 1, 2, 3, 4)
        buffers = [buffer(f"b{i}", chance.choice(sizes), alignment=chance.choice((1, 2))) for i in range(3)]
        stated = problem(
            buffers, [pair for pair in (("b0", "b1"), ("b1", "b2"), ("b0", "b2")) if chance.random() < 0.8]
        )
        best = pack(stated, range(3), None, 10_000)
        assert best.is_optimal
        assert best.peak == least_peak(stated)


@pytest.mark.parametrize("offset", EDGES)
def test_an_offset_that_no_pool_has_is_not_free(offset: int) -> None:
    """-1 was taken for a buffer that may be anywhere."""
    stated = problem([buffer("a", 8, offset=offset), buffer("b", 8)], separations={("a", "b"): 4})
    if abs(offset) >= 1 << 62:
        for place in (first_fit, make_strip):
            with pytest.raises(UsmpError, match="P504"):
                place(stated, range(2))
    else:
        assert first_fit(stated, range(2)).stuck == 0
        assert first_fit(stated, range(2), overflow=True).stuck == 0
        assert Searcher(make_strip(stated, range(2))).fit(100, 1000) == Answer(Status.IMPOSSIBLE, (), 0)
    high = Plan("high", (Allocation(0, offset), Allocation(0, 100)))
    assert swept(stated, high, 1000).allocations[0].offset == offset


def test_a_bound_holds_for_a_clique_whose_members_are_aligned() -> None:
    """Each takes 32 bytes but for the last."""
    clique = tuple(range(9))
    buffers = tuple(buffer(f"c{i}", 17, alignment=16) for i in clique)
    stated = Problem((Pool("flash"),), buffers, tuple(Others(clique, i) for i in clique))
    attempt = first_fit(stated, clique)
    peak = max(place.offset for place in attempt.placed.values()) + 17
    assert peak == 8 * 32 + 17
    assert peak <= reach(stated, clique)


@pytest.mark.parametrize("limit", [NO_LIMIT, NO_LIMIT + 1, 1 << 80])
def test_a_limit_beyond_64_bits_is_none(limit: int) -> None:
    stated = problem([buffer("a", 1 << 32), buffer("b", 1 << 31)], pools={"ram": limit})
    assert first_fit(stated, range(2)).placed == {0: (0, 0), 1: (0, 1 << 32)}
    assert Searcher(make_strip(stated, range(2))).fit(limit, limit).status is Status.FITS
    assert pack(stated, range(2), limit, 1000).peak == 3 << 31


@pytest.mark.parametrize("size", [1 << 62, (1 << 62) + 1, 1 << 63, 1 << 64, (1 << 64) + 8])
def test_a_size_that_cannot_be_counted_is_refused(size: int) -> None:
    stated = problem([buffer("a", size), buffer("b", 8)])
    told = rf"P504.*the offsets of 2 buffers may reach {size + 8:,} bytes; at most 4,\d+,\d+,\d+,\d+,\d+,903 can be"
    with pytest.raises(UsmpError, match=told):
        first_fit(stated, range(2))


def test_an_alignment_that_cannot_be_counted_is_refused() -> None:
    with pytest.raises(UsmpError, match="P504"):
        make_strip(problem([buffer("a", 8, alignment=1 << 64)]), range(1))


@pytest.mark.parametrize("number", [1 << 63, 1 << 64, NO_PLACE - 1])
def test_a_number_beyond_64_bits_is_refused(number: int) -> None:
    """ctypes would drop the higher bits without a word."""
    stated = problem([buffer("a", 8), buffer("b", 8)])
    fit, strip = FirstFit(stated, range(2)), make_strip(stated, range(2))
    with pytest.raises(UsmpError, match=r"P504.*a number of this problem takes more than 64 bits"):
        fit([0], {1: Allocation(0, number)})
    with pytest.raises(UsmpError, match=r"P504"):
        Walks(compiled(strip), 2).turn(min(number, 16), 10, number)


@pytest.mark.parametrize("nodes", [0, -1, NO_PLACE])
def test_a_walk_without_work_ends(nodes: int) -> None:
    """It was compared with the work that was done, and never equal."""
    stated = problem([buffer(f"b{i}", 3 + i) for i in range(5)])
    walks = Walks(compiled(make_strip(stated, range(5))), 5)
    assert walks.turn(25, nodes).status is Status.UNKNOWN


def test_turns_become_longer() -> None:
    """The core has the schedule: half as many nodes again in each turn, for each of six kinds of walks."""
    strip = make_strip(tiling(400, 5, height=512).problem, range(400))
    walks, capacity = Walks(compiled(strip), 400), 512 // strip.unit
    assert [walks.turn(capacity, 1 << 60, 5).nodes for _ in range(2)] == [30, 30]
    assert [walks.turn(capacity, 1 << 60).nodes for _ in range(3)] == [6 * 400, 6 * 601, 6 * 902]
    assert walks.turn(capacity, 1 << 60, 5).nodes == 30


def test_buffers_without_conflicts_are_swept() -> None:
    """Above what the others need, one by itself is put at the start of the pool."""
    buffers = [buffer(name, 8, intervals=((i, i + 2),)) for i, name in enumerate("abc")]
    buffers.append(buffer("d", 4, intervals=((9, 10),)))
    stated = problem(buffers, [("a", "b"), ("b", "c")], separations={("a", "b"): 4})
    plan = Plan("high", (Allocation(0, 0), Allocation(0, 8), Allocation(0, 0), Allocation(0, 100)))
    assert swept(stated, plan, 1000).allocations[3] == (0, 0)


def test_the_largest_strip_is_walked_and_a_larger_one_is_not() -> None:
    for size, is_walked in ((LARGEST // 8, True), (LARGEST, False)):
        stated = problem([buffer("a", size), buffer("b", size - 1)])
        searcher = Searcher(make_strip(stated, range(2)))
        assert searcher.is_walked == is_walked
        assert searcher.fit(2 * size - 1, 1000).status is Status.FITS
        assert searcher.fit(2 * size - 2, 1000).status is Status.IMPOSSIBLE
