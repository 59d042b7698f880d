"""TVM's own planner cases, where they lie: never worse than any sound plan that its rules lead to."""

import json
from typing import Any

import pytest

from tests.support.problems import buffer, by_hand, problem
from tests.support.shared_cases import FOLDER
from usmp_build.planner.algorithm import Algorithm
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.algorithms.exact import Exact
from usmp_build.planner.algorithms.hill_climb import HillClimb
from usmp_build.planner.library import Status, solve
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.bounds import pool_bounds
from usmp_build.planner.memory.limits import with_limits
from usmp_build.planner.memory.plan import Plan, peaks, quality
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.verify import violations
from usmp_build.planner.problems import read_problem


def planner_cases() -> list[Any]:
    entries = json.loads((FOLDER / "index.json").read_text("utf-8")) if FOLDER.is_dir() else []
    cases = [pytest.param(entry["id"], id=entry["id"]) for entry in entries if entry["kind"] == "planner"]
    return cases or [pytest.param("", marks=pytest.mark.skip(f"no cases in {FOLDER}; set USMP_PROBLEMS"))]


def stated(case: dict[str, Any]) -> Problem:
    pools = {pool["name"]: None if pool["size_hint_bytes"] < 0 else pool["size_hint_bytes"] for pool in case["pools"]}
    numbers = {name: index for index, name in enumerate(pools)}
    buffers = [
        buffer(b["name"], b["size"], [numbers[name] for name in b["pools"]], alignment=b["alignment"])
        for b in case["buffers"]
    ]
    pairs = {(b["name"], other) for b in case["buffers"] for other in b["conflicts"] if other != b["name"]}
    return problem(buffers, pairs, pools)


@pytest.mark.parametrize("name", planner_cases())
@pytest.mark.parametrize("algorithm", [Auto(), Exact(), HillClimb()], ids=lambda algorithm: type(algorithm).__name__)
def test_never_worse_than_tvm(name: str, algorithm: Algorithm) -> None:
    case = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    question = stated(case)
    plan = algorithm(question)
    rivals = [rival for rival in tvm_plans(case, question) if not violations(question, rival)]
    if plan is None:
        assert not rivals
        return
    assert not violations(question, plan)
    assert all(quality(question, plan) <= quality(question, rival) for rival in rivals)
    assert is_best(question, plan) or isinstance(algorithm, HillClimb)
    bounds = pool_bounds(question, plan)
    assert all(peak >= bound.bytes for peak, bound in zip(peaks(question, plan), bounds, strict=True))


SPARSE = FOLDER.parent / "faults" / "21-dominated" / "01-random150.json"


@pytest.mark.slow
@pytest.mark.skipif(not SPARSE.is_file(), reason=f"no {SPARSE}; set USMP_PROBLEMS")
def test_a_limit_is_no_better_than_none() -> None:
    """Random conflicts, as few as there are buffers: limits of the slow pool once gave plans that cost less."""
    question = read_problem(SPARSE.read_bytes(), SPARSE.name).problem
    assert isinstance(question, Problem)
    best = solve(question)
    assert best.status is Status.OPTIMAL
    assert best.plan is not None
    costs = []
    for limit in (None, 97_302, 90_000, 85_000, 81_323, 70_000):
        plan = Auto()(with_limits(question, (65_535, limit)))
        assert plan is not None
        costs.append(quality(question, plan)[0])
    assert costs == sorted(costs)
    assert costs[0] == quality(question, best.plan)[0] == 1_625_378


def tvm_plans(case: dict[str, Any], question: Problem) -> list[Plan]:
    """What TVM's rules lead to, sound or not."""
    numbers = {pool.name: index for index, pool in enumerate(question.pools)}
    plans = []
    for result in case["reference_simulation"].values():
        if result.get("offsets") and len(result["offsets"]) == len(question.buffers):
            pairs = [result["offsets"][b.name] for b in question.buffers]
            plans.append(by_hand(*((numbers[pool], offset) for pool, offset in pairs)))
    return plans
