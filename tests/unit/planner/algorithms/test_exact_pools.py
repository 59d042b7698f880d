"""The search over several pools: what it finds and proves against the truth, and what it must not depend on.

USMP_FUZZ is the number of problems to try; nothing about them depends on the machine or the day.
"""

import os
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count, islice

import pytest

from tests.support.brute_force import Truth
from tests.support.problems import CASES, buffer, by_hand, load, places, problem, shuffled, tiny
from tests.support.tools import few
from usmp_build.planner.algorithms.exact.pools import judge, plan_pools
from usmp_build.planner.algorithms.exact.verdict import Verdict
from usmp_build.planner.algorithms.portfolio import portfolio
from usmp_build.planner.memory.alive import conflicts
from usmp_build.planner.memory.plan import Plan, quality, rank
from usmp_build.planner.memory.problem import Buffer, Pool, Problem
from usmp_build.planner.memory.verify import violations

COUNT = int(os.environ.get("USMP_FUZZ", "300"))
PROBLEMS_PER_TEST = 100
PLENTY = 20_000
"""Nodes that are enough for almost all problems of `tiny`."""
OVERDRAFT = 20
"""Nodes by which a step that was begun may exceed its budget."""


def several_pools(seed: int) -> Problem:
    """Return a tiny problem with two pools or three."""
    stated = (tiny(1000 * seed + attempt, most=7, largest=6) for attempt in count())
    return next(some for some in stated if len(some.pools) > 1)


def two_pools(size: int, seed: int, fast: float = 0.5) -> Problem:
    """A model of `size` buffers, no two of them alike, and a fast pool that holds a part of what is alive at once."""
    numbers = random.Random(seed)
    births = [numbers.randint(0, size) for _ in range(size)]
    lives = [((birth, birth + 2 + numbers.randint(0, size // 5)),) for birth in births]
    sizes = [16 * each for each in numbers.sample(range(1, 5 * size), size)]
    most = max(sum(s for s, ((a, b),) in zip(sizes, lives, strict=True) if a <= step < b) for step in births)
    costs = [(0, each * numbers.randint(1, 10)) for each in sizes]
    buffers = [
        buffer(f"b{i}", each, (0, 1), costs=cost, alignment=16, intervals=life)
        for i, (each, cost, life) in enumerate(zip(sizes, costs, lives, strict=True))
    ]
    stated = problem(buffers, (), {"fast": int(most * fast), "slow": None})
    return replace(stated, conflicts=conflicts(lives))


def as_plan(stated: Problem, verdict: Verdict) -> Plan:
    assert verdict.places is not None
    claims = tuple(verdict.claims.get(pool, 0) for pool in range(len(stated.pools)))
    return Plan("test", tuple(verdict.places[index] for index in range(len(stated.buffers))), claims)


def work(stated: Problem, nodes: int) -> int:
    return judge(stated, nodes, portfolio(stated)).nodes


# -------------------------------------------------------------------------------------------------- the truth


@pytest.mark.parametrize("first", few(range(0, COUNT, PROBLEMS_PER_TEST), 1))
def test_against_the_truth(first: int) -> None:
    for seed in range(first, min(first + PROBLEMS_PER_TEST, COUNT)):
        truth = Truth(several_pools(seed))
        best = truth.best()
        for nodes in (PLENTY, seed % 50):
            for start in (None, portfolio(truth.stated)):
                verdict = judge(truth.stated, nodes, start)
                wrong = chain(complaints(truth, best, verdict), shortcomings(best, verdict, nodes, start))
                assert not list(wrong), f"seed {seed}, {nodes} nodes, from {start}"


def complaints(truth: Truth, best: tuple[int, ...] | None, verdict: Verdict) -> list[str]:
    """Say what is wrong with a verdict."""
    stated = truth.stated
    bound = verdict.bound(len(stated.pools))
    if best is None:
        return ["it has a plan"] if verdict.places is not None else []
    wrong = ["there is a plan"] if verdict.impossible else []
    if bound > best:
        wrong.append(f"{bound} is not below the best, {best}")
    if verdict.places is None:
        return wrong
    plan = as_plan(stated, verdict)
    wrong += violations(stated, plan)
    if quality(stated, plan) != best and quality(stated, plan) <= max(best, bound):
        wrong.append(f"{quality(stated, plan)} is called the best, which is {best}")
    for pool, claim in enumerate(plan.claims):
        least = truth.least_peak(tuple(i for i, place in enumerate(plan.allocations) if place.pool == pool))
        if least is None or claim > least:
            wrong.append(f"pool {pool} needs {least}, and not {claim}")
    return wrong


def shortcomings(best: tuple[int, ...] | None, verdict: Verdict, nodes: int, start: Plan | None) -> list[str]:
    """Say what so many nodes should have brought."""
    wrong = []
    if verdict.nodes > nodes + OVERDRAFT:
        wrong.append(f"took {verdict.nodes} nodes")
    if start is not None and verdict.places is None:
        wrong.append("lost the plan that was there")
    if nodes == PLENTY and verdict.impossible != (best is None):
        wrong.append("does not know whether there is a plan")
    if nodes == PLENTY and best is not None and verdict.bound(len(best) - 2)[0] < best[0]:
        wrong.append("does not know what the best plan costs")
    return wrong


def test_a_full_pool_stays_full() -> None:
    """USMP's greedy algorithms allow a pool again that an earlier conflict has ruled out."""
    stated, best = load(next(path for path in CASES if path.stem == "readmitted_pool"))
    plan = plan_pools(stated, PLENTY)
    assert (plan is None) == (best is None)
    buffers = tuple(replace(b, pools=(0, 1), costs=(0, b.size)) for b in stated.buffers)
    spread = replace(stated, pools=(*stated.pools, Pool("more")), buffers=buffers)
    for nodes in (0, 5, PLENTY):
        plan = plan_pools(spread, nodes, portfolio(spread))
        assert violations(spread, plan) == ()


def test_fixed_offsets_that_clash_are_put_into_different_pools() -> None:
    buffers = [buffer(name, 8, (0, 1), costs=(0, cost), offset=0) for name, cost in (("a", 5), ("b", 2), ("c", 9))]
    assert judge(problem(buffers, None, {"x": None, "y": None}), PLENTY).impossible
    apart = problem(buffers[:2], None, {"x": None, "y": None})
    assert places(apart, plan_pools(apart, PLENTY)) == {"a": ("x", 0), "b": ("y", 0)}


# -------------------------------------------------------------------------------------------------- the plan


def test_the_name_tells_who_won() -> None:
    buffers = [buffer(name, 4, (0, 1), costs=(0, 4)) for name in "abc"]
    stated = problem(buffers, None, {"fast": 8, "slow": None})
    best = by_hand((0, 4), (1, 0), (0, 0))
    kept = plan_pools(stated, PLENTY, best)
    assert kept is not None
    assert (kept.algorithm, kept.allocations, kept.claims) == ("by hand", best.allocations, (8, 4))
    assert kept.bound == quality(stated, best)
    better = plan_pools(stated, PLENTY, by_hand((0, 4), (1, 0), (1, 4)))
    unsound = plan_pools(stated, PLENTY, by_hand((0, 0), (0, 0), (0, 0)))
    for plan in (better, unsound):
        assert plan is not None
        assert (plan.algorithm, plan.claims, quality(stated, plan)) == ("exact", (8, 4), quality(stated, best))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("nodes", [5, PLENTY])
def test_a_start_is_kept_or_improved(seed: int, nodes: int) -> None:
    stated = several_pools(seed)
    start = portfolio(stated)
    plan = plan_pools(stated, nodes, start)
    if start is None:
        return
    assert plan is not None
    assert violations(stated, plan) == ()
    assert (quality(stated, plan) < quality(stated, start)) == (plan.algorithm == "exact")
    assert (plan.allocations == start.allocations) == (plan.algorithm == start.algorithm)


# -------------------------------------------------------------------------------------------------- the same for all


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("nodes", [300, PLENTY])
def test_the_order_of_buffers_does_not_matter(seed: int, nodes: int) -> None:
    stated = several_pools(seed) if seed % 5 else two_pools(24, seed)
    plan, other = plan_pools(stated, nodes), plan_pools(shuffled(stated, seed), nodes)
    assert (plan is None) == (other is None)
    if plan is not None and other is not None:
        assert places(stated, plan) == places(shuffled(stated, seed), other)
        assert (plan.claims, plan.work) == (other.claims, other.work)


@pytest.mark.parametrize("seed", range(10))
def test_names_do_not_matter_where_buffers_differ(seed: int) -> None:
    stated = two_pools(24, seed)
    names = [f"other{number}" for number in random.Random(seed).sample(range(100), len(stated.buffers))]
    renamed = replace(stated, buffers=tuple(map(named, stated.buffers, names)))
    assert plan_pools(stated, PLENTY) == plan_pools(renamed, PLENTY)


def named(known: Buffer, name: str) -> Buffer:
    return replace(known, name=name)


@pytest.mark.parametrize("seed", range(20))
def test_names_do_not_matter_to_what_is_best(seed: int) -> None:
    stated = several_pools(seed)
    names = random.Random(seed).sample([b.name for b in stated.buffers], len(stated.buffers))
    renamed = replace(stated, buffers=tuple(map(named, stated.buffers, names)))
    verdicts = [judge(some, PLENTY) for some in (stated, renamed)]
    ranks = [None if verdict.places is None else rank(stated, verdict.places) for verdict in verdicts]
    assert ranks[0] == ranks[1]


# -------------------------------------------------------------------------------------------------- work


def solved(sizes: Sequence[int], seeds: int) -> list[Problem]:
    return [two_pools(size, seed) for size in sizes for seed in range(seeds)]


@pytest.mark.long
def test_what_is_solved_takes_no_more_work() -> None:
    for stated in islice(solved([12, 30], 5), 10):
        assert work(stated, 2_000_000) == work(stated, 2_000_000_000) < 20_000


@pytest.mark.parametrize("nodes", few([0, 1, 10, 100, 1_000], 3))
def test_work_is_bounded(nodes: int) -> None:
    for seed in range(4):
        assert work(two_pools(90, seed), nodes) <= nodes + OVERDRAFT + 90


def test_more_work_is_no_worse() -> None:
    stated = two_pools(60, 5, fast=0.3)
    start = portfolio(stated)
    assert start is not None
    plans = [plan_pools(stated, nodes, start) for nodes in (0, 20_000)]
    ranks = [quality(stated, plan) for plan in plans if plan is not None]
    assert ranks[1] < ranks[0] == quality(stated, start)
