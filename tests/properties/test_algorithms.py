"""Every algorithm on random problems: plans are sound, faults are caught, bounds hold.

The problems are as general as the noun: conflicts that come from no intervals, pairs that may share bytes or swap
sides, odd alignments, empty buffers, several pools with and without limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.problems import places, shuffled
from usmp_build.algorithms.auto import Auto
from usmp_build.algorithms.greedy import GreedyByConflicts, GreedyBySize
from usmp_build.interfaces import Algorithm
from usmp_build.memory.bounds import pool_bounds, required
from usmp_build.memory.explain import explain, put_into_words
from usmp_build.memory.plan import Allocation, Plan, peaks, quality
from usmp_build.memory.problem import Buffer, Pool, Problem
from usmp_build.memory.verify import violations

ALGORITHMS: list[Algorithm] = [GreedyBySize(), GreedyByConflicts(), Auto()]
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: type(algorithm).__name__)


@st.composite
def problems(draw: st.DrawFn, most: int = 10, largest: int = 40) -> Problem:
    limits = st.none() | st.integers(0, 4 * largest)
    pools = tuple(Pool(f"pool{i}", draw(limits)) for i in range(draw(st.integers(1, 3))))
    buffers = tuple(draw(buffers_of(f"b{i}", len(pools), largest)) for i in range(draw(st.integers(0, most))))
    pairs = [pair for pair in combinations(range(len(buffers)), 2) if draw(st.integers(0, 2))]
    separations = {
        (low, high): draw(st.integers(-largest, buffers[low].size))
        for a, b in pairs
        for low, high in ((a, b), (b, a))
        if draw(st.integers(0, 4)) == 0
    }
    neighbours: list[list[int]] = [[] for _ in buffers]
    for a, b in pairs:
        neighbours[a].append(b)
        neighbours[b].append(a)
    return Problem(pools, buffers, tuple(tuple(sorted(others)) for others in neighbours), separations)


@st.composite
def buffers_of(draw: st.DrawFn, name: str, pools: int, largest: int) -> Buffer:
    candidates = draw(st.lists(st.integers(0, pools - 1), min_size=1, unique=True))
    costs = draw(st.just(()) | st.tuples(*[st.integers(0, 9)] * len(candidates)))
    lives = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), max_size=2))
    intervals = tuple((5 * i + start, 5 * i + start + length) for i, (start, length) in enumerate(sorted(lives)))
    alignment = draw(st.sampled_from([1, 1, 2, 4, 8, 12]))
    return Buffer(name, draw(st.integers(0, largest)), tuple(candidates), costs, alignment, intervals)


def is_sound(problem: Problem, plan: Plan) -> bool:
    """Judge a plan by the sets of bytes that buffers own: another way than that of `memory.verify`."""
    owned = []
    for buffer, (pool, offset) in zip(problem.buffers, plan.allocations, strict=True):
        limit = problem.pools[pool].limit if pool in buffer.pools else -1
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


def may_meet(problem: Problem, a: int, place_a: Allocation, b: int, place_b: Allocation) -> bool:
    """The rule for pairs as the design states it."""
    ahead = place_b.offset - place_a.offset
    return place_a.pool != place_b.pool or ahead >= problem.separation(a, b) or -ahead >= problem.separation(b, a)


@every_algorithm
@settings(deadline=None, max_examples=300)
@given(problem=problems())
def test_plans_are_sound(algorithm: Algorithm, problem: Problem) -> None:
    plan = algorithm(problem)
    assert algorithm(problem) == plan
    if plan is not None:
        assert is_sound(problem, plan)
        assert violations(problem, plan) == ()


@every_algorithm
@settings(deadline=None)
@given(problem=problems(), seed=st.integers(0, 99))
def test_only_names_matter(algorithm: Algorithm, problem: Problem, seed: int) -> None:
    """The order in which buffers are stated does not."""
    other = shuffled(problem, seed)
    plan = algorithm(problem)
    if plan is None:
        assert algorithm(other) is None
    else:
        assert places(other, algorithm(other)) == places(problem, plan)


@settings(deadline=None, max_examples=300)
@given(problem=problems(), data=st.data())
def test_faults_are_caught(problem: Problem, data: st.DataObject) -> None:
    """Move some buffers of a plan: `violations` speaks up exactly if the plan is no longer sound."""
    unlimited = replace(problem, pools=tuple(replace(pool, limit=None) for pool in problem.pools))
    plan = GreedyBySize()(unlimited)
    assert plan is not None
    allocations = list(plan.allocations)
    for index in range(len(allocations)):
        pool, offset = allocations[index]
        moved = data.draw(st.sampled_from([0, 0, 1, -1, problem.buffers[index].alignment, -offset]))
        elsewhere = data.draw(st.sampled_from([pool, pool, pool, 0, len(problem.pools) - 1]))
        allocations[index] = Allocation(elsewhere, offset + moved)
    changed = Plan("changed", tuple(allocations))
    assert bool(violations(problem, changed)) == (not is_sound(problem, changed))


@settings(deadline=None)
@given(problem=problems())
def test_auto_is_never_dearer_than_the_greedy_algorithms(problem: Problem) -> None:
    auto = Auto()(problem)
    for greedy in (GreedyBySize()(problem), GreedyByConflicts()(problem)):
        if greedy is not None:
            assert auto is not None
            assert quality(problem, auto)[0] <= quality(problem, greedy)[0]
            assert len(problem.pools) > 1 or peaks(problem, auto) <= peaks(problem, greedy)


@every_algorithm
@settings(deadline=None)
@given(problem=problems())
def test_no_plan_beats_the_bounds(algorithm: Algorithm, problem: Problem) -> None:
    plan = algorithm(problem)
    if plan is None:
        return
    bounds = pool_bounds(problem, plan)
    assert all(bound.bytes <= peak for bound, peak in zip(bounds, peaks(problem, plan), strict=True))
    assert not any(requirement.missing for requirement in required(problem))


@settings(deadline=None)
@given(problem=problems(most=3, largest=4))
def test_no_plan_at_all_beats_the_bounds(problem: Problem) -> None:
    """Enumerate every plan below a height: a proof that nothing fits means that there is none."""
    plans = [Plan("any", tuple(allocations)) for allocations in all_allocations(problem, height=14)]
    for plan in plans:
        assert violations(problem, plan) == ()
        bounds = pool_bounds(problem, plan)
        assert all(bound.bytes <= peak for bound, peak in zip(bounds, peaks(problem, plan), strict=True))
    if any(requirement.missing for requirement in required(problem)):
        assert not plans


def all_allocations(
    problem: Problem, height: int, placed: tuple[Allocation, ...] = ()
) -> Iterator[tuple[Allocation, ...]]:
    """Yield every way to place the buffers, those of `placed` being placed."""
    index = len(placed)
    if index == len(problem.buffers):
        yield placed
        return
    buffer = problem.buffers[index]
    for pool in buffer.pools:
        limit = problem.pools[pool].limit
        end = height if limit is None else min(limit, height)
        for offset in range(0, end - buffer.size + 1, buffer.alignment):
            place = Allocation(pool, offset)
            near = (other for other in problem.conflicts[index] if other < index)
            if all(may_meet(problem, index, place, other, placed[other]) for other in near):
                yield from all_allocations(problem, height, (*placed, place))


@every_algorithm
@settings(deadline=None)
@given(problem=problems())
def test_every_failure_can_be_explained(algorithm: Algorithm, problem: Problem) -> None:
    if algorithm(problem) is None:
        shortage = explain(problem, algorithm)
        message, cure = put_into_words(problem, shortage, ["step"] * 3)
        assert message
        assert cure
        assert shortage.missing > 0
