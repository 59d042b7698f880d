"""Chains of buffers that overlap the next, as kernels leave them: small optima known by other means, always proven."""

import pytest

from benchmarks.solver import overlaps
from tests.support.problems import buffer, problem
from usmp_build.planner import solve
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.algorithms.exact.sections import make_strip
from usmp_build.planner.algorithms.hill_climb import HillClimb
from usmp_build.planner.algorithms.portfolio import portfolio
from usmp_build.planner.audit.audit import audit
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.plan import peaks
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.verify import violations
from usmp_build.planner.problems import problem_json, read_problem, solution_json
from usmp_build.planner.problems.plan_file import read_plan

KWS = ([490, *[8000] * 9, 64, 64, 12], [490, *[384, 60] * 4, 8000, 64, 64])
"""Sizes, and how far each input lies above its output at the least: MLPerf Tiny's keyword spotting."""


def proven(stated: Problem) -> int:
    """The peak of the default's plan, which is the best."""
    plan = Auto()(stated)
    assert plan is not None
    assert violations(stated, plan) == ()
    assert is_best(stated, plan)
    return peaks(stated, plan)[0]


def least(sizes: list[int], above: list[int], free: bool) -> int:
    """What a chain needs: of the places of a buffer only the lowest and the highest matter to the next one."""
    return next(c for c in range(max(sizes), sum(sizes) + 1) if _fits(sizes, above, free, c))


def _fits(sizes: list[int], above: list[int], free: bool, capacity: int) -> bool:
    low, high = 0, capacity - sizes[0]
    for size, before, distance in zip(sizes[1:], sizes, above, strict=False):
        room = capacity - size
        under = min(high - min(distance, size), room)
        over = max(low + (min(distance, before) if free else before), 0)
        if under < 0 and over > room:
            return False
        low, high = 0 if under >= 0 else over, room if over <= room else under
    return True


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("count", [3, 8, 30])
@pytest.mark.parametrize("seed", range(4))
def test_chains_are_proven(count: int, seed: int, free: bool) -> None:
    sizes, above = overlaps.sizes_and_distances(count, seed, most=40)
    assert proven(overlaps.chain(sizes, above, free)) == least(sizes, above, free)


@pytest.mark.parametrize("free", [False, True])
def test_long_chains_are_proven(free: bool) -> None:
    sizes, above = overlaps.sizes_and_distances(200, 1)
    proven(overlaps.chain(sizes, above, free))


def test_keyword_spotting() -> None:
    assert proven(overlaps.chain(*KWS, free=True)) == 8384
    assert proven(overlaps.chain(*KWS, free=False)) == 9776


def test_a_residual_block() -> None:
    """The input stays for two convolutions, then the sum is written over it."""
    proof = proven(overlaps.residual(3, free=True))
    assert proof == 2 * 16384 + 540


def test_an_output_may_begin_before_its_input() -> None:
    stated = problem([buffer("in", 100), buffer("out", 120)], separations={("out", "in"): -30})
    assert proven(stated) == 120


def test_buffers_that_may_go_round_in_a_circle() -> None:
    names = ["a", "b", "c"]
    pairs = {(one, names[(i + 1) % 3]): 0 for i, one in enumerate(names)}
    stated = problem([buffer(name, 8) for name in names], separations=pairs)
    assert not make_strip(stated, range(3)).ordered
    assert proven(stated) == 8


@pytest.mark.parametrize("seed", range(3))
def test_orders_along_the_timeline_overlap_chains(seed: int) -> None:
    """Without them, first fit lets every other buffer jump over its neighbors: nearly two buffers high."""
    sizes, above = [1000] * 40, [10] * 39
    for plan in (
        portfolio(overlaps.chain(sizes, above, False), 0),
        HillClimb(seed=seed)(overlaps.chain(sizes, above, False)),
    ):
        assert plan is not None
        assert max(place.offset for place in plan.allocations) == 390


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_auditor_agrees(seed: int, free: bool) -> None:
    """What the planner proves without a search, the auditor counts, too, by code of its own."""
    text = problem_json(overlaps.network(40, seed, free)).encode()
    statement = read_problem(text, "problem.json")
    assert isinstance(statement.problem, Problem)
    written = solution_json(statement, solve(statement.problem, "hill_climb", rounds=50))
    report = audit(statement, read_plan(written.encode(), "plan.json"))
    assert report.wrong == ()
    assert statement.problem.separations
