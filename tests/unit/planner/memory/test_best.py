"""A plan that is called the best is the best: all plans of small problems are looked at."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tests.support.problems import alive, buffer, by_hand, every_plan, problem, tiny
from tests.support.tools import few
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.plan import quality

COUNT = int(os.environ.get("USMP_FUZZ", "200"))


@pytest.mark.parametrize("part", few(range(4), 1))
def test_no_plan_is_better_than_the_best(part: int) -> None:
    said = 0
    for seed in range(part, COUNT, 4):
        stated = tiny(seed, most=4, largest=4)
        plan = Auto()(stated)
        if plan is not None and is_best(stated, plan):
            said += 1
            assert all(quality(stated, other) >= quality(stated, plan) for other in every_plan(stated, height=12))
    assert said > COUNT / 20


def test_one_pool_at_its_bound_is_best() -> None:
    stated = alive({"a": (0, 2, 8), "b": (1, 3, 8), "c": (2, 4, 8)})
    assert is_best(stated, by_hand(0, 8, 0))
    assert not is_best(stated, by_hand(0, 8, 16))


def test_everything_in_the_preferred_pool_is_best() -> None:
    stated = problem([buffer("a", 8, [0, 1]), buffer("b", 8, [0, 1])], pools={"fast": None, "slow": None})
    assert is_best(stated, by_hand((0, 0), (0, 8)))
    assert not is_best(stated, by_hand((0, 0), (1, 0)))


def test_what_does_not_fit_into_the_preferred_pool_must_go_elsewhere() -> None:
    stated = problem([buffer("a", 8, [0, 1]), buffer("b", 8, [0, 1])], pools={"fast": 8, "slow": None})
    assert is_best(stated, by_hand((0, 0), (1, 0)))
    assert not is_best(stated, by_hand((1, 8), (1, 0)))


def test_a_cheaper_pool_comes_first() -> None:
    stated = problem([buffer("a", 8, [0, 1], costs=(5, 1))], pools={"fast": None, "slow": None})
    assert is_best(stated, by_hand((1, 0)))
    assert not is_best(stated, by_hand((0, 0)))


def test_a_claim_counts_for_buffers_that_have_no_other_pool() -> None:
    stated = alive({"a": (0, 2, 8), "b": (2, 4, 8)})
    plan = by_hand(0, 8)
    assert not is_best(stated, plan)
    assert is_best(stated, replace(plan, claims=(16,)))
