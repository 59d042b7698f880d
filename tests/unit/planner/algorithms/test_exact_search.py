"""The search in one pool: what it finds, and what it proves."""

import random
from dataclasses import replace
from itertools import combinations

import pytest

from benchmarks.solver import instances
from tests.support.problems import alive, buffer, problem
from usmp_build.planner.algorithms.exact.one_pool import Packing, pack
from usmp_build.planner.algorithms.exact.searcher import Searcher
from usmp_build.planner.algorithms.exact.sections import make_strip
from usmp_build.planner.algorithms.exact.walks import Status
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Buffer, Problem
from usmp_build.planner.memory.verify import violations

WORK = 5_000


def tiling(count: int, seed: int) -> Problem:
    """Rectangles that fit into 512 bytes without a gap."""
    return instances.tiling(count, seed, height=512).problem


def random_problem(seed: int, loose: bool = False) -> Problem:
    """Conflicts of intervals, some taken away and some added, alignments, fixed offsets, separations."""
    numbers = random.Random(seed)
    buffers = []
    for i in range(numbers.randint(3, 9)):
        start, size = numbers.randint(0, 8), 4 * numbers.randint(0, 9)
        alignment = numbers.choice([1, 1, 4, 8, 16])
        fixed = numbers.choice([None] * 9 + [16 * numbers.randint(0, 4)])
        life = ((start, start + numbers.randint(1, 5)),)
        buffers.append(buffer(f"b{i}", size, alignment=alignment, intervals=life, offset=fixed))
    pairs = [pair for pair in combinations(buffers, 2) if touch(*pair) != (numbers.random() < 0.1)]
    separations = {}
    for a, b in pairs:
        if numbers.random() < 0.2 and a.size > 4:
            separations[a.name, b.name] = numbers.randint(-a.size, a.size) if loose else numbers.randint(1, a.size)
    return problem(buffers, [(a.name, b.name) for a, b in pairs], separations=separations)


def touch(a: Buffer, b: Buffer) -> bool:
    (one,), (other,) = a.intervals, b.intervals
    return one[0] < other[1] and other[0] < one[1]


def as_plan(stated: Problem, packing: Packing) -> Plan:
    assert packing.offsets is not None
    return Plan("test", tuple(Allocation(0, packing.offsets[i]) for i in range(len(stated.buffers))))


@pytest.mark.parametrize("loose", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_packings_are_sound_and_proofs_hold(seed: int, loose: bool) -> None:
    stated = random_problem(seed, loose)
    best = pack(stated, range(len(stated.buffers)), None, WORK)
    if best.offsets is None:
        assert best.nodes < WORK  # fixed offsets that clash
        return
    assert violations(stated, as_plan(stated, best)) == ()
    assert best.bound <= best.peak
    if best.is_optimal and best.peak:
        less = pack(stated, range(len(stated.buffers)), best.peak - 1, WORK)
        assert less.offsets is None


@pytest.mark.parametrize("seed", range(4))
def test_tilings_are_packed_without_a_gap(seed: int) -> None:
    stated = tiling(40, seed)
    best = pack(stated, range(40), None, WORK)
    assert (best.peak, best.bound, best.is_optimal) == (512, 512, True)


def test_more_than_max_live_may_be_needed_and_is_proven() -> None:
    """Among random problems there are some whose least peak is above the bytes alive together."""
    packed = next(
        (stated, best)
        for seed in range(400)
        for stated in [random_problem(seed)]
        for best in [pack(stated, range(len(stated.buffers)), None, WORK)]
        for known in [pack(stated, range(len(stated.buffers)), None, 0)]
        if best.is_optimal and best.bound > known.bound
    )
    assert pack(packed[0], range(len(packed[0].buffers)), packed[1].peak - 1, WORK).offsets is None


def test_unknown_is_not_impossible() -> None:
    stated = tiling(120, 3)
    given_up = pack(stated, range(120), 512, 20)
    assert given_up.offsets is None
    assert (given_up.bound, given_up.nodes) == (512, 20)
    assert Searcher(make_strip(stated, range(120))).fit(512, 20).status is Status.UNKNOWN


def test_a_course_that_is_left_and_taken_up_again_is_one_search() -> None:
    strip = make_strip(tiling(80, 5), range(80))
    whole = Searcher(strip).course(512 // strip.unit).finish(3_000)
    course = Searcher(strip).course(512 // strip.unit)
    done = 0
    while (answer := course.turn(3_000 - done)).status is Status.UNKNOWN and done + answer.nodes < 3_000:
        done += answer.nodes
    assert (answer.status, answer.offsets, done + answer.nodes) == (whole.status, whole.offsets, whole.nodes)


@pytest.mark.parametrize("seed", range(20))
def test_backwards_in_time_the_same_plans_fit(seed: int) -> None:
    stated = random_problem(seed)
    strip = make_strip(stated, range(len(stated.buffers)))
    again = strip.backwards().backwards()
    assert again.near.rows() == strip.near.rows()
    assert replace(again, near=strip.near) == strip
    if strip.ordered:
        capacity = sum(strip.sizes) + sum(strip.alignments) + max((0, *strip.fixed))
        answer = Searcher(strip.backwards()).course(capacity).finish(WORK)
        if answer.status is Status.FITS:
            places = dict(zip(strip.members, answer.offsets[::-1], strict=True))
            empty = {i: each.offset or 0 for i, each in enumerate(stated.buffers)}
            allocations = (Allocation(0, places[i] * strip.unit if i in places else empty[i]) for i in empty)
            assert not violations(stated, Plan("", tuple(allocations)))


def test_names_and_order_do_not_matter() -> None:
    stated = tiling(60, 7)
    order = list(range(60))
    random.Random(1).shuffle(order)
    lives = {f"other{i}": (*stated.buffers[i].intervals[0], stated.buffers[i].size) for i in order}
    one, other = (pack(some, range(60), None, WORK) for some in (stated, alive(lives)))
    assert (one.peak, one.bound, one.nodes) == (other.peak, other.bound, other.nodes)


def test_what_is_too_large_for_the_core_is_searched_pair_by_pair() -> None:
    """Sizes near 2^58, by steps and more, take more than 64 bits."""
    huge = alive({f"b{i}": (i, i + 2, (1 << 58) + i) for i in range(6)})
    best = pack(huge, range(6), None, WORK)
    assert violations(huge, as_plan(huge, best)) == ()
    assert best.is_optimal
    assert best.peak == (1 << 59) + 9
