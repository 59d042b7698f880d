"""The least increase of one limit."""

from dataclasses import dataclass, field

import pytest

from tests.support.problems import alive, buffer, by_hand, problem
from usmp_build.planner.algorithms.greedy import GreedyBySize
from usmp_build.planner.memory import increase
from usmp_build.planner.memory.increase import limited
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Pool, Problem
from usmp_build.planner.memory.trials import Attempt, Trials


def least_increase(problem: Problem, pool: int, attempt: Attempt, at_least: int = 1) -> int | None:
    increase_ = increase.least_increase(problem, pool, Trials(attempt, 8), at_least)
    return None if increase_ is None else increase_.bytes


@dataclass
class Needs:
    """Plans one buffer of 10 bytes if its pool is of one of these limits, and wastes room if there is some."""

    enough: range
    at: int = 0
    asked: list[int | None] = field(default_factory=list)

    def __call__(self, problem: Problem) -> Plan | None:
        limit = problem.pools[0].limit
        self.asked.append(limit)
        return by_hand(min(self.at, (limit or 1000) - 10)) if limit is None or limit in self.enough else None


ONE = problem([buffer("a", 10)], pools={"ram": 4})


def test_the_bound_is_tried_first() -> None:
    needs = Needs(range(10, 1000))
    assert least_increase(ONE, 0, needs) == 6
    assert needs.asked == [10]


def test_what_was_proven_otherwise_is_not_tried() -> None:
    needs = Needs(range(10, 1000))
    assert least_increase(ONE, 0, needs, at_least=20) == 20
    assert needs.asked == [24]


@pytest.mark.parametrize("least", [11, 12, 17, 29, 30])
def test_between_the_bound_and_what_it_takes_without_a_limit(least: int) -> None:
    assert least_increase(ONE, 0, Needs(range(least, 1000), at=20)) == least - 4


@pytest.mark.parametrize("least", [13, 20, 60, 300, 900])
def test_little_more_than_the_least_however_much_is_wasted_without_a_limit(least: int) -> None:
    increase_ = increase.least_increase(ONE, 0, Trials(Needs(range(least, 2000), at=990), 8), 1)
    assert increase_ is not None
    assert least - 4 <= increase_.bytes < 1.25 * (least - 4)


def test_with_enough_trials_the_least_increase_is_proven() -> None:
    for trials in range(30):
        needs = Needs(range(300, 2000), at=990)
        increase_ = increase.least_increase(ONE, 0, Trials(needs, trials), 1)
        assert increase_ is None or increase_.least == (299 in needs.asked and increase_.bytes == 296)
        assert len(needs.asked) <= trials
    assert increase_ == (0, 296, True)


@pytest.mark.parametrize("at", [0, 1, 5, 20, 990])
def test_it_takes_no_trial_twice_wherever_the_algorithm_puts_the_buffer(at: int) -> None:
    for start in (0, 4):
        stated = limited(ONE, 0, start)
        for least in (11, 12, 13, 17, 29, 60, 300):
            needs = Needs(range(least, 2000), at=at)
            assert increase.least_increase(stated, 0, Trials(needs, 40), 1) == (0, least - start, True)
            assert len(needs.asked) == len({*needs.asked})


@pytest.mark.parametrize(("wasted", "asked"), [(0, [11]), (18, [28, 19]), (21, [31, 16])])
def test_after_what_the_algorithm_uses_a_middle_is_tried(wasted: int, asked: list[int]) -> None:
    """From 10 to 31 bytes the increase is more than four times as large: the geometric mean is the middle."""
    needs = Needs(range(11, 1000), at=wasted)
    least_increase(ONE, 0, needs)
    assert needs.asked[2 : 2 + len(asked)] == asked


def test_a_limit_may_keep_an_algorithm_from_a_plan_that_keeps_the_limit() -> None:
    needs = Needs(range(50, 1000), at=20)
    assert least_increase(ONE, 0, needs) is not None
    assert needs.asked[:4] == [10, None, 30, 60]


def test_nothing_is_offered_that_was_not_solved() -> None:
    needs = Needs(range(13, 1_000_000), at=500_000)
    least = least_increase(ONE, 0, needs)
    assert least is not None
    assert least + 4 in needs.asked
    assert least + 4 in needs.enough
    assert len(needs.asked) <= 8


def test_what_does_not_help() -> None:
    assert least_increase(ONE, 0, Needs(range(0))) is None
    both = problem([buffer("a", 10), buffer("b", 20, (1,))], pools={"small": 4, "large": 4})
    needs = Needs(range(0))
    assert least_increase(both, 0, needs) is None
    assert not needs.asked
    assert least_increase(limited(both, 1, None), 1, needs) is None


def test_a_pool_becomes_a_candidate_when_it_is_large_enough() -> None:
    stated = problem([buffer("a", 70, (0, 1))], pools={"small": 50, "large": 60})
    assert least_increase(stated, 0, GreedyBySize()) == 20
    assert least_increase(stated, 1, GreedyBySize()) == 10


def test_a_limit_may_have_to_reach_far_beyond_all_sizes_for_a_fixed_buffer() -> None:
    stated = problem([buffer("fixed", 3, (0, 1), offset=1000)], pools={"small": 8, "large": 20})
    assert least_increase(stated, 0, GreedyBySize()) == 995
    assert least_increase(stated, 1, GreedyBySize()) == 983


def test_only_one_pool_changes() -> None:
    stated = alive({"a": (0, 1, 8)})
    assert limited(stated, 0, 5).pools == (Pool("ram", 5),)
    assert limited(stated, 0, 5).buffers == stated.buffers
