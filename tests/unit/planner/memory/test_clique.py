"""Cliques: whoever asks for them answers as with lists of all pairs."""

import random
from dataclasses import replace

import pytest

from tests.support.problems import buffer, by_hand, problem
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.algorithms.exact.pools import plan_pools
from usmp_build.planner.algorithms.first_fit import first_fit
from usmp_build.planner.algorithms.portfolio import portfolio
from usmp_build.planner.memory.bounds import pressure
from usmp_build.planner.memory.clique import Others, clique_of, cliques, is_clique
from usmp_build.planner.memory.components import components, restricted
from usmp_build.planner.memory.plan import peaks
from usmp_build.planner.memory.problem import Buffer, Problem
from usmp_build.planner.memory.verify import violations


def with_clique(stated: Problem, *clique: int) -> Problem:
    """Return the problem with the conflicts of these buffers as those of a clique."""
    conflicts = (Others(clique, i) if i in clique else others for i, others in enumerate(stated.conflicts))
    return replace(stated, conflicts=tuple(conflicts))


def by_chance(seed: int) -> Problem:
    """Return a problem of a clique of constants, in one or two pools, and of three buffers in another pool."""
    chance = random.Random(seed)
    constants = [
        buffer(
            f"w{i}",
            chance.choice([0, 3, 4, 8, 12, 17]),
            chance.choice([(0,), (1, 0)]) if seed % 2 else (0,),
            alignment=chance.choice([4, 16]) if seed % 3 else 4,
            intervals=((0, 9),),
        )
        for i in range(chance.randint(2, 9))
    ]
    others = [buffer(name, chance.randint(1, 9), (2,), intervals=((i, i + 2),)) for i, name in enumerate("xyz")]
    names = [each.name for each in constants]
    pairs = [(a, b) for a in names for b in names if a < b]
    pools = {"flash": chance.choice([None, 200]), "itcm": 24, "ram": None}
    return problem([*constants, *others], [*pairs, ("x", "y"), ("y", "z")], pools)


def alike(seed: int) -> tuple[Problem, Problem]:
    """Return a problem with all pairs, and the same with a clique."""
    listed = by_chance(seed)
    return listed, with_clique(listed, *range(len(listed.buffers) - 3))


def test_others_are_a_tuple_of_all_but_one() -> None:
    others = Others((2, 5, 7), 5)
    assert (len(others), list(others), others[-1], others[:1]) == (2, [2, 7], 7, (2,))
    assert [index in others for index in (2, 5, 6, 7, 8, "2")] == [True, False, False, True, False, False]
    assert others == (2, 7)
    assert others == Others((2, 5, 7), 5)
    assert others != Others((2, 5, 8), 5)
    assert hash(others) == hash((2, 7))
    assert not Others((2,), 2)


def test_members_know_their_clique() -> None:
    stated = with_clique(problem([buffer(name, 4) for name in "abcd"], [("a", "c"), ("c", "d"), ("a", "d")]), 0, 2, 3)
    assert [clique_of(stated, index) for index in range(4)] == [(0, 2, 3), None, (0, 2, 3), (0, 2, 3)]
    assert cliques(stated) == [(0, 2, 3)]
    assert [is_clique(stated, members) for members in ([0, 3], [0, 1], [1], [])] == [True, False, False, False]


@pytest.mark.parametrize("seed", range(30))
def test_answers_are_those_of_pairs(seed: int) -> None:
    listed, stated = alike(seed)
    assert stated == listed
    everything = range(len(listed.buffers))
    assert components(stated, everything) == components(listed, everything)
    assert pressure(stated, everything) == pressure(listed, everything)
    assert first_fit(stated, everything, overflow=True) == first_fit(listed, everything, overflow=True)
    assert portfolio(stated) == portfolio(listed)
    kept = [index for index in reversed(everything) if index % 3]
    assert restricted(stated, kept) == restricted(listed, kept)
    assert len(cliques(restricted(stated, kept))) == 1


@pytest.mark.parametrize("seed", range(30))
def test_plans_are_as_good(seed: int) -> None:
    listed, stated = alike(seed)
    plan, other = Auto()(listed), Auto()(stated)
    if plan is None or other is None:
        assert plan is other
        return
    assert not violations(listed, other)
    assert peaks(stated, other) == peaks(listed, plan)
    assert (other.claims, other.bound) == (plan.claims, plan.bound)


@pytest.mark.parametrize("seed", range(30))
def test_verification_says_the_same(seed: int) -> None:
    listed, stated = alike(seed)
    chance = random.Random(seed)
    for _ in range(20):
        plan = by_hand(*((each.pools[0], 4 * chance.randint(0, 30)) for each in listed.buffers))
        assert violations(stated, plan) == violations(listed, plan)


def test_no_search_is_needed_without_gaps() -> None:
    """Ten thousand constants within a limit of just their bytes."""
    count = 10_000
    constants = tuple(Buffer(f"w{i}", 4 + 4 * (i % 7), (0,), (), 4, ((0, 1),)) for i in range(count))
    everything = tuple(range(count))
    need = sum(each.size for each in constants)
    pools = problem([], pools={"flash": need}).pools
    stated = Problem(pools, constants, tuple(Others(everything, index) for index in everything))
    plan = plan_pools(stated, 0, minimize=False)
    assert plan is not None
    assert (peaks(stated, plan), plan.work) == ((need,), 0)
