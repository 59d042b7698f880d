"""Algorithms and bounds against the truth: for tiny problems every way to place the buffers is tried.

USMP_FUZZ is the number of problems to try; nothing about them depends on the machine or the day.
"""

import os
from typing import NamedTuple

import pytest

from tests.support.brute_force import Truth
from tests.support.problems import buffer, every_plan, problem, tiny
from tests.support.tools import few
from usmp_build.planner.algorithm import Algorithm
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.algorithms.exact import Exact
from usmp_build.planner.algorithms.greedy import GreedyByConflicts, GreedyBySize
from usmp_build.planner.algorithms.hill_climb import HillClimb, ideal
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.bounds import pool_bounds, required
from usmp_build.planner.memory.plan import peaks, quality
from usmp_build.planner.memory.verify import violations

COUNT = int(os.environ.get("USMP_FUZZ", "400"))
PROBLEMS_PER_TEST = 100


class Rival(NamedTuple):
    """Who is measured against the truth."""

    algorithm: Algorithm
    exact: bool = False
    """Whether it finds the best plan wherever there is one, and knows that it is."""


RIVALS = [
    Rival(GreedyBySize()),
    Rival(GreedyByConflicts()),
    Rival(HillClimb(rounds=30)),
    Rival(Auto(), exact=True),
    Rival(Exact(), exact=True),
]


@pytest.mark.parametrize("first", few(range(0, COUNT, PROBLEMS_PER_TEST), 1))
def test_against_the_truth(first: int) -> None:
    for seed in range(first, min(first + PROBLEMS_PER_TEST, COUNT)):
        truth = Truth(tiny(seed))
        best = truth.best()
        assert best is None or not any(requirement.missing for requirement in required(truth.stated)), seed
        assert best is None or ideal(truth.stated, range(len(truth.stated.buffers))) <= best, seed
        for rival in RIVALS:
            assert not complaints(rival, truth, best), f"seed {seed}, {rival.algorithm}"


def complaints(rival: Rival, truth: Truth, best: tuple[int, ...] | None) -> list[str]:
    """Say what is wrong with an algorithm's answer, and with what is known of it."""
    stated = truth.stated
    plan = rival.algorithm(stated)
    if plan is None:
        return [f"there is a plan: {best}"] if rival.exact and best is not None else []
    wrong = [*violations(stated, plan)]
    if rival.exact and not (quality(stated, plan) == best and is_best(stated, plan)):
        wrong.append(f"{quality(stated, plan)}, bound {plan.bound}: not known to be the best, {best}")
    if best is None or quality(stated, plan) < best:
        wrong.append(f"{quality(stated, plan)} is better than the best, {best}")
    if is_best(stated, plan) and quality(stated, plan) != best:
        wrong.append(f"{quality(stated, plan)} is not the best: {best}")
    for pool, (bound, peak) in enumerate(zip(pool_bounds(stated, plan), peaks(stated, plan), strict=True)):
        least = truth.least_peak(tuple(i for i, place in enumerate(plan.allocations) if place.pool == pool))
        claim = plan.claims[pool] if plan.claims else 0
        if least is None or not max(bound.bytes, claim) <= least <= peak:
            wrong.append(f"pool {pool}: bound {bound.bytes}, claim {claim}, truth {least}, peak {peak}")
    return wrong


@pytest.mark.parametrize("seed", range(100))
def test_the_truth_by_more_obvious_means(seed: int) -> None:
    stated = tiny(seed, most=3, largest=3)
    best = Truth(stated).best()
    least = min((quality(stated, plan) for plan in every_plan(stated, height=16)), default=None)
    assert best == least


def test_truths_known_by_heart() -> None:
    assert Truth(problem([])).best() == (0, 0, 0)
    assert Truth(problem([buffer("a", 3), buffer("b", 4, alignment=2)])).best() == (0, 7, 7)
    assert Truth(problem([buffer("a", 3), buffer("b", 4)], pools={"ram": 6})).best() is None
    assert Truth(problem([buffer("a", 3, offset=5), buffer("b", 6)])).best() == (0, 14, 14)
    assert Truth(problem([buffer("a", 3, offset=5), buffer("b", 5, offset=4)])).best() is None
    apart = problem(
        [buffer("a", 3, (0, 1), costs=(1, 2)), buffer("b", 4, (0, 1), costs=(1, 9))], None, {"x": 6, "y": 3}
    )
    assert Truth(apart).best() == (3, 7, 3, 4)
    in_place = problem([buffer("a", 3), buffer("b", 4)], separations={("a", "b"): -1, ("b", "a"): 4})
    assert Truth(in_place).best() == (0, 4, 4)
