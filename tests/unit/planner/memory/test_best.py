"""A plan that is called the best is the best: all plans of small problems are looked at."""

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
    proven = 0
    for seed in range(part, COUNT, 4):
        stated = tiny(seed, most=4, largest=4)
        plan = Auto()(stated)
        if plan is not None and is_best(stated, plan):
            proven += 1
            assert all(quality(stated, other) >= quality(stated, plan) for other in every_plan(stated, height=12))
    assert proven > COUNT / 20


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


def test_a_claim_of_one_pool_does_not_depend_on_what_is_in_others_nor_on_empty_buffers() -> None:
    lives = {"a": (0, 2, 8, 0), "b": (2, 4, 8, 0), "c": (0, 4, 8, 1)}
    buffers = [
        buffer(name, size, (pool,), intervals=((start, stop),)) for name, (start, stop, size, pool) in lives.items()
    ]
    stated = problem([*buffers, buffer("empty", 0, (0, 1))], [], pools={"first": None, "second": None})
    assert is_best(stated, replace(by_hand(0, 8, (1, 0), 0), claims=(16, 0)))


def test_what_an_algorithm_has_proven_of_no_better_plan_only() -> None:
    """Two buffers that never meet, side by side: 16 bytes are not the least, unless that is proven."""
    stated = alive({"a": (0, 2, 8), "b": (2, 4, 8)})
    plan = by_hand(0, 8)
    assert is_best(stated, replace(plan, bound=quality(stated, plan)))
    assert not is_best(stated, replace(plan, bound=(0, 8, 8)))


def test_a_plan_that_costs_more_is_not_best_though_it_has_lower_peaks() -> None:
    stated = problem([buffer("a", 8, [0, 1], costs=(5, 1)), buffer("b", 8, [0])], pools={"fast": None, "slow": None})
    assert not is_best(stated, by_hand((0, 0), (0, 8)))
    assert is_best(stated, by_hand((1, 0), (0, 0)))


def test_two_pools_may_need_less_together_than_one() -> None:
    """Side by side in one pool, 15 bytes between them are lost."""
    buffers = [buffer(name, 1, [0, 1], alignment=16) for name in "ab"]
    stated = problem(buffers, pools={"one": None, "other": None})
    assert not is_best(stated, by_hand((0, 0), (0, 16)))


def test_an_empty_pool_takes_nothing_from_the_others() -> None:
    buffers = [buffer(name, 10, [0, 1, 2]) for name in "ab"]
    stated = problem(buffers, pools={"a": 10, "b": None, "c": None})
    assert is_best(stated, by_hand((0, 0), (1, 0)))


def test_a_claim_counts_for_no_buffer_that_could_be_elsewhere() -> None:
    lives = {"a": (0, 2), "b": (2, 4)}
    buffers = [buffer(name, 8, [0, 1] if name == "b" else [0], intervals=(life,)) for name, life in lives.items()]
    stated = problem(buffers, [], pools={"one": None, "other": None})
    assert not is_best(stated, replace(by_hand((0, 0), (0, 8)), claims=(16, 0)))
