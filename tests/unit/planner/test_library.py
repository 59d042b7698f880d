"""The planner as a library: what it says of problems that fit, that do not, and of algorithms that are wrong."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from tests.support.problems import alive, buffer, by_hand, offsets, problem
from usmp_build.errors import CheckFailed, ManifestError, ProblemError, UsageError
from usmp_build.planner import by_name
from usmp_build.planner.library import Status, solve
from usmp_build.planner.memory import Buffer, Plan, Pool, Problem
from usmp_build.planner.memory.timeline import Timeline

STAIRS = alive({"a": (0, 2, 8), "b": (1, 3, 8), "c": (2, 4, 8)})
RING = problem([buffer(name, 8) for name in "abcde"], ["ab", "bc", "cd", "de", "ea"])
"""Five buffers in a ring of conflicts: no two of them make a bound of more than 16, and all need 24."""


@dataclass(frozen=True)
class Fixed:
    """Answers what it is told to."""

    plan: Plan | None
    unlimited: Plan | None = None
    """The answer when the first pool has no limit."""

    def __call__(self, question: Problem, /) -> Plan | None:
        return self.plan if question.pools[0].limit is not None else self.unlimited


def use(monkeypatch: pytest.MonkeyPatch, algorithm: Fixed) -> None:
    monkeypatch.setattr(by_name, "algorithm", lambda name, options, place: algorithm)


def test_a_plan_with_its_proof() -> None:
    solution = solve(STAIRS)
    assert solution.status is Status.OPTIMAL
    assert set(offsets(STAIRS, solution.plan).values()) == {0, 8}
    assert (solution.peaks, solution.bounds, solution.gaps, solution.gap) == ((16,), (16,), (0,), 0)
    assert (solution.witnesses[0].step, len(solution.witnesses[0].buffers)) == (1, 2)


def test_capacity_is_the_limit_of_pools_that_have_none() -> None:
    stated = problem([buffer("a", 8, [0]), buffer("b", 8, [1])], [], {"x": 64, "y": None})
    assert solve(stated, capacity=8).status is Status.OPTIMAL
    assert solve(stated, capacity=7).status is Status.INFEASIBLE
    assert solve(stated, capacity=7).shortage.pools == (1,)


def test_a_bound_above_the_limit_is_a_proof() -> None:
    solution = solve(STAIRS, capacity=15)
    assert (solution.status, solution.plan) == (Status.INFEASIBLE, None)
    assert (solution.shortage.room, solution.shortage.missing, solution.shortage.proven) == (15, 1, True)
    assert solution.shortage.witness.bytes == 16


def test_a_claim_above_the_limit_is_a_proof_too(monkeypatch: pytest.MonkeyPatch) -> None:
    claiming = Plan("search", by_hand(0, 8, 0, 8, 16).allocations, claims=(24,), work=7)
    use(monkeypatch, Fixed(None, claiming))
    solution = solve(RING, capacity=20)
    assert (solution.status, solution.claim, solution.work) == (Status.INFEASIBLE, 24, 7)
    assert (solution.shortage.missing, solution.shortage.proven) == (4, True)
    solution = solve(RING, capacity=23)
    assert solution.shortage.missing == 1


@pytest.mark.parametrize("algorithm", ["auto", "exact"])
@pytest.mark.parametrize("minimize", [None, True, False])
def test_infeasibility_that_no_bound_shows_is_proven_by_search(algorithm: str, minimize: bool | None) -> None:
    solution = solve(RING, algorithm, capacity=23, minimize=minimize)
    assert (solution.status, solution.claim, solution.shortage.missing) == (Status.INFEASIBLE, 24, 1)
    assert solve(RING, algorithm, capacity=24, minimize=minimize).peaks == (24,)


def test_infeasible_choices_of_pools_are_proven_by_search() -> None:
    """Loads fit, and every pool has room for each buffer, but not for two of the three."""
    three = problem([buffer(name, 6, [0, 1]) for name in "abc"], None, {"p": 10, "q": 10})
    clash = problem([buffer("a", 4, offset=0), buffer("b", 4, offset=2)])
    for stated in (three, clash):
        solution = solve(stated)
        assert (solution.status, solution.shortage.pools, solution.shortage.proven) == (Status.INFEASIBLE, (), True)


def test_a_search_that_ends_without_a_plan_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Fixed(None, by_hand(0, 8, 0, 8, 24)))
    solution = solve(RING, capacity=28)
    assert (solution.status, solution.shortage.missing, solution.shortage.proven) == (Status.UNKNOWN, 4, False)
    use(monkeypatch, Fixed(None, None))
    assert solve(RING, capacity=28).status is Status.UNKNOWN


def test_a_claim_is_no_proof_where_buffers_may_go_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    stated = problem([buffer(name, 8, [0, 1]) for name in "ab"], [], {"x": 4, "y": 9})
    use(monkeypatch, Fixed(None, None))
    assert solve(stated).status is Status.UNKNOWN


def test_without_a_proof_a_plan_is_feasible(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Fixed(None, by_hand(0, 8, 0, 8, 16)))
    solution = solve(RING)
    assert (solution.status, solution.peaks, solution.bounds, solution.gap) == (Status.FEASIBLE, (24,), (16,), 8)


@pytest.mark.parametrize("wrong", [by_hand(0, 0, 0), by_hand(0, 8), Plan("x", by_hand(0, 8, 0).allocations, (17,))])
def test_a_wrong_algorithm_is_named(monkeypatch: pytest.MonkeyPatch, wrong: Plan) -> None:
    use(monkeypatch, Fixed(None, wrong))
    with pytest.raises(CheckFailed, match=r'P501.*algorithm "auto" returned a wrong plan'):
        solve(STAIRS)


def test_algorithms_and_options_by_name() -> None:
    assert solve(STAIRS, "greedy_by_size").algorithm == "greedy_by_size"
    assert solve(STAIRS, "auto", rounds=0).status is Status.OPTIMAL
    with pytest.raises(ManifestError, match="P404"):
        solve(STAIRS, "atuo")
    with pytest.raises(ManifestError, match="P402"):
        solve(STAIRS, "auto", speed=9)


@pytest.mark.parametrize("bound", ["auto.rounds", "exact.nodes", "hill_climb.rounds"])
def test_bounds_of_the_search_are_not_negative(bound: str) -> None:
    algorithm, option = bound.split(".")
    assert solve(STAIRS, algorithm, **{option: 0}).plan is not None
    with pytest.raises(ManifestError, match=f'P406.*"{option}" must be at least 0, not -1'):
        solve(STAIRS, algorithm, **{option: -1})


@pytest.mark.parametrize("capacity", [-1, 8.0, True, "8"])
def test_what_is_no_problem_is_refused(capacity: Any) -> None:
    broken = replace(STAIRS, conflicts=((1,), (), (1,)))
    with pytest.raises(ProblemError, match=r'Q115.*"a" conflicts with "b", but not the other way round') as caught:
        solve(broken)
    assert len(caught.value.diagnostics) == 2
    for stated in (STAIRS, Timeline(*(np.array([value]) for value in (0, 1, 8, 1)))):
        with pytest.raises(ProblemError, match=r"Q115.*the capacity is"):
            solve(stated, capacity=capacity)


def test_it_tells_what_it_does() -> None:
    told: list[str] = []
    solve(STAIRS, progress=told.append)
    assert told == ["auto plans 3 buffers", "checking"]


def test_nothing_to_plan() -> None:
    solution = solve(Problem((Pool("ram", 0),), (), ()))
    assert (solution.status, solution.peaks) == (Status.OPTIMAL, (0,))
    assert solve(Problem((Pool("ram", 0),), (Buffer("a", 0, (0,)),), ((),))).status is Status.OPTIMAL


def test_timelines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("usmp_build.effort.TIMELINE_WORK_EACH", 20)
    chance = np.random.default_rng(7)
    lower = chance.integers(0, 500, 2000)
    upper, size = lower + chance.integers(1, 30, 2000), chance.integers(1, 100, 2000) * 4
    timeline = Timeline(lower, upper, size, np.full(2000, 16))
    solution = solve(timeline)
    assert solution.plan is not None
    assert solution.bounds[0] <= solution.peaks[0] <= solution.bounds[0] * 2
    assert solution.status is (Status.FEASIBLE if solution.gap else Status.OPTIMAL)
    assert solve(timeline, capacity=solution.peaks[0]).plan is not None
    assert solve(timeline, capacity=solution.witnesses[0].bytes - 1).status is Status.INFEASIBLE
    limited = replace(timeline, limit=solution.witnesses[0].bytes - 1)
    assert solve(limited).status is Status.INFEASIBLE
    assert solve(replace(limited, limit=solution.peaks[0]), capacity=1).plan is not None


def test_timelines_can_be_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    lower = np.arange(30)
    timeline = Timeline(lower, lower + 3, np.full(30, 8), np.full(30, 4))
    solution = solve(timeline, "greedy_by_size")
    assert (solution.algorithm, solution.bounds) == ("greedy_by_size", (24,))
    monkeypatch.setattr("usmp_build.effort.MOST_PAIRS", 50)
    with pytest.raises(UsageError, match="U211"):
        solve(timeline, "greedy_by_size")
    with pytest.raises(UsageError, match="U211"):
        solve(timeline, "auto", rounds=1)


def test_a_plan_that_only_limits_were_in_the_way_of(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Fixed(None, by_hand(0, 8, 0)))
    assert solve(STAIRS, capacity=16).status is Status.OPTIMAL
