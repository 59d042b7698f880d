"""Every algorithm on random problems: plans are sound, faults are caught, bounds hold.

The problems are as general as the noun: conflicts that come from no intervals, pairs that may share bytes or swap
sides, odd alignments, fixed offsets, empty buffers, several pools with and without limits.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.drawn_problems import problems
from tests.support.problems import every_plan, may_meet, places, shuffled
from tests.support.tools import few
from usmp_build.planner import by_name
from usmp_build.planner.algorithm import Algorithm
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.algorithms.greedy import GreedyByConflicts, GreedyBySize
from usmp_build.planner.algorithms.hill_climb import HillClimb
from usmp_build.planner.library import solve
from usmp_build.planner.memory.alive import conflicts
from usmp_build.planner.memory.bounds import pool_bound, pool_bounds, pressure, required
from usmp_build.planner.memory.components import families, restricted
from usmp_build.planner.memory.explain import explain
from usmp_build.planner.memory.increase import limited
from usmp_build.planner.memory.limits import with_limits
from usmp_build.planner.memory.malformed import malformed
from usmp_build.planner.memory.plan import Allocation, Plan, peaks, quality
from usmp_build.planner.memory.problem import Buffer, Pool, Problem
from usmp_build.planner.memory.shortage import put_into_words
from usmp_build.planner.memory.verify import violations

OPTIONS = {"hill_climb": {"rounds": 40}}
"""Where the default takes long."""

ALGORITHMS = [by_name.algorithm(name, OPTIONS.get(name, {}), "") for name in by_name.ALGORITHMS]
every_algorithm = pytest.mark.parametrize(
    "algorithm", few(ALGORITHMS, 1), ids=lambda algorithm: type(algorithm).__name__
)


def is_sound(problem: Problem, plan: Plan) -> bool:
    """Judge a plan by the sets of bytes that buffers own: another way than that of `memory.verify`."""
    owned = []
    for buffer, (pool, offset) in zip(problem.buffers, plan.allocations, strict=True):
        limit = problem.pools[pool].limit if pool in buffer.pools else -1
        if buffer.offset not in {None, offset}:
            return False
        if offset < 0 or offset % buffer.alignment or (limit is not None and offset + buffer.size > limit):
            return False
        owned.append({(pool, byte) for byte in range(offset, offset + buffer.size)})
    for a, others in enumerate(problem.conflicts):
        for b in others:
            if owned[a] and owned[b] and not {(a, b), (b, a)} & problem.separations.keys():
                if owned[a] & owned[b]:
                    return False
            elif not may_meet(problem, a, plan.allocations[a], b, plan.allocations[b]):
                return False
    return True


@every_algorithm
@given(problem=problems())
def test_plans_are_sound(algorithm: Algorithm, problem: Problem) -> None:
    plan = algorithm(problem)
    assert algorithm(problem) == plan
    if plan is not None:
        assert is_sound(problem, plan)
        assert violations(problem, plan) == ()


@every_algorithm
@given(problem=problems(), seed=st.integers(0, 99))
def test_only_names_matter(algorithm: Algorithm, problem: Problem, seed: int) -> None:
    """The order in which buffers are stated does not."""
    other = shuffled(problem, seed)
    plan = algorithm(problem)
    if plan is None:
        assert algorithm(other) is None
    else:
        assert places(other, algorithm(other)) == places(problem, plan)


@settings(max_examples=200)
@given(problem=problems(), data=st.data())
def test_faults_are_caught(problem: Problem, data: st.DataObject) -> None:
    """Move some buffers of a plan: `violations` speaks up exactly if the plan is no longer sound."""
    unlimited = tuple(replace(pool, limit=None) for pool in problem.pools)
    movable = tuple(replace(buffer, offset=None) for buffer in problem.buffers)
    plan = GreedyBySize()(replace(problem, pools=unlimited, buffers=movable))
    assert plan is not None
    allocations = list(plan.allocations)
    for index in range(len(allocations)):
        pool, offset = allocations[index]
        moved = data.draw(st.sampled_from([0, 0, 1, -1, problem.buffers[index].alignment, -offset]))
        elsewhere = data.draw(st.sampled_from([pool, pool, pool, 0, len(problem.pools) - 1]))
        allocations[index] = Allocation(elsewhere, offset + moved)
    changed = Plan("changed", tuple(allocations))
    assert bool(violations(problem, changed)) == (not is_sound(problem, changed))


@given(problem=problems())
def test_auto_is_never_dearer_than_the_greedy_algorithms(problem: Problem) -> None:
    auto = Auto()(problem)
    for greedy in (GreedyBySize()(problem), GreedyByConflicts()(problem)):
        if greedy is not None:
            assert auto is not None
            assert quality(problem, auto)[0] <= quality(problem, greedy)[0]
            assert len(problem.pools) > 1 or peaks(problem, auto) <= peaks(problem, greedy)


@settings(max_examples=30)
@given(problem=problems().filter(lambda problem: not malformed(problem)), data=st.data())
def test_no_algorithm_limit_or_capacity_gives_a_better_plan(problem: Problem, data: st.DataObject) -> None:
    """Better by `plan.quality`: cost, then the sum of peaks, then each."""
    best = solve(problem).plan
    for algorithm in ALGORITHMS:
        assert_no_better(problem, best, algorithm(problem))
    if best is not None:
        limits = [data.draw(st.integers(0, peak)) for peak in peaks(problem, best)]
        for within in (peaks(problem, best), limits):
            assert_no_better(problem, best, solve(with_limits(problem, within)).plan)
    assert_no_better(problem, best, solve(problem, capacity=data.draw(st.integers(0, 200))).plan)


@pytest.mark.parametrize("seed", few(range(12), 2))
def test_no_algorithm_or_limit_gives_a_better_plan_where_nothing_is_proven(seed: int) -> None:
    """Forty to ninety buffers in pools of different speed: tight, with costs."""
    problem = tight(seed)
    best = solve(problem).plan
    assert best is not None
    for name in ("exact", "hill_climb"):
        assert_no_better(problem, best, by_name.algorithm(name, {}, "")(problem))
    last = peaks(problem, best)[-1]
    for share in (last, last - 1, last * 9 // 10, last * 3 // 4):
        limits = (*problem.limits[:-1], share)
        assert_no_better(problem, best, Auto()(with_limits(problem, limits)))


def assert_no_better(problem: Problem, best: Plan | None, other: Plan | None) -> None:
    if other is not None:
        assert best is not None
        assert quality(problem, best) <= quality(problem, other)


def tight(seed: int) -> Problem:
    """Draw buffers along a timeline, and one to three pools, of which all but the last are limited."""
    chance = Random(seed)
    pools, count = chance.randint(1, 3), chance.randint(40, 90)
    lives = [((start, start + 1 + int(chance.expovariate(0.25))),) for start in chance.choices(range(count), k=count)]
    sizes = [chance.randint(1, 4000) * chance.choice([1, 1, 4]) for _ in range(count)]
    buffers = []
    for index, size in enumerate(sizes):
        reached = sorted({*chance.sample(range(pools), chance.randint(1, pools)), pools - 1})
        costs = tuple(rank * size * chance.choice([1, chance.randint(1, 9)]) for rank in range(len(reached)))
        alignment = chance.choice([1, 4, 16])
        buffers.append(Buffer(str(index), size, tuple(reached), costs, alignment, lives[index]))
    limits = [int(sum(sizes) * chance.uniform(0.05, 0.25)) for _ in range(pools - 1)] + [None]
    named = tuple(Pool(f"pool {number}", limit) for number, limit in enumerate(limits))
    return Problem(named, tuple(buffers), conflicts(lives))


@given(problem=problems())
def test_climbing_never_ends_below_the_greedy_algorithms(problem: Problem) -> None:
    climbed = HillClimb(rounds=10)(problem)
    for greedy in (GreedyBySize()(problem), GreedyByConflicts()(problem)):
        if greedy is not None:
            assert climbed is not None
            assert quality(problem, climbed) <= quality(problem, greedy)


@every_algorithm
@given(problem=problems())
def test_no_plan_beats_the_bounds(algorithm: Algorithm, problem: Problem) -> None:
    plan = algorithm(problem)
    if plan is None:
        return
    bounds = pool_bounds(problem, plan)
    assert all(bound.bytes <= peak for bound, peak in zip(bounds, peaks(problem, plan), strict=True))
    assert not any(requirement.missing for requirement in required(problem))


@given(problem=problems(most=3, largest=4))
@pytest.mark.long
def test_no_plan_at_all_beats_the_bounds(problem: Problem) -> None:
    """Enumerate every plan below a height: a proof that nothing fits means that there is none."""
    plans = list(every_plan(problem, height=14))
    for plan in plans:
        assert violations(problem, plan) == ()
        bounds = pool_bounds(problem, plan)
        assert all(bound.bytes <= peak for bound, peak in zip(bounds, peaks(problem, plan), strict=True))
    if any(requirement.missing for requirement in required(problem)):
        assert not plans


@every_algorithm
@given(problem=problems())
def test_every_failure_can_be_explained(algorithm: Algorithm, problem: Problem) -> None:
    if algorithm(problem) is not None:
        return
    for shortage in explain(problem, algorithm):
        assert all(put_into_words(problem, shortage, ["step"] * 3))
        fixed = any(problem.buffers[index].offset is not None for index in shortage.core)
        assert shortage.missing > 0 or fixed  # in each other's way, whatever the limits
        assert algorithm(restricted(problem, shortage.core)) is None
        family = next(some for some in families(problem) if shortage.core[0] in some)
        for pool, increase, _ in shortage.increases:
            limit = (problem.pools[pool].limit or 0) + increase
            assert algorithm(limited(restricted(problem, family), pool, limit)) is not None


@given(problem=problems(), data=st.data())
def test_a_proof_names_no_buffer_in_vain(problem: Problem, data: st.DataObject) -> None:
    for shortage in explain(problem, lambda _: None):
        if shortage.proven:
            pools = len(shortage.pools)
            assert needed(problem, shortage.core, pools) > shortage.room
            spared = data.draw(st.sampled_from(shortage.core))
            rest = [index for index in shortage.core if index != spared]
            assert needed(problem, rest, pools) <= shortage.room


def needed(problem: Problem, members: Sequence[int], pools: int) -> int:
    return pool_bound(problem, members).bytes if pools == 1 else pressure(problem, members, pools).bytes
