"""The default algorithm finds the best plan of all small cases, and names the search that did."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.problems import CASES, alive, buffer, load, places, problem, shuffled
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.algorithms.exact import several_pools
from usmp_build.planner.algorithms.exact.verdict import Verdict
from usmp_build.planner.algorithms.greedy import GreedyByConflicts, GreedyBySize
from usmp_build.planner.algorithms.portfolio import by_load
from usmp_build.planner.memory.bounds import pool_bounds
from usmp_build.planner.memory.clique import Others
from usmp_build.planner.memory.plan import peaks, quality
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.verify import violations


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_best_plans(path: Path) -> None:
    stated, best = load(path)
    plan = Auto()(stated)
    if best is None:
        assert plan is None
        return
    assert plan is not None
    assert not violations(stated, plan)
    assert dict(zip((pool.name for pool in stated.pools), peaks(stated, plan), strict=True)) == best
    other = shuffled(stated, 1)
    assert places(other, Auto()(other)) == places(stated, plan)


@pytest.mark.parametrize(("model", "size"), [("kws", 16_000), ("vww", 55_296), ("ic", 49_152)])
def test_mlperf_tiny_is_planned_at_its_bound(model: str, size: int) -> None:
    stated, _ = load(next(path for path in CASES if path.stem == f"mlperf_{model}"))
    plan = Auto()(stated)
    assert plan is not None
    assert peaks(stated, plan) == (size,)
    assert [witness.bytes for witness in pool_bounds(stated, plan)] == [size]


def test_never_worse_than_the_greedy_algorithms() -> None:
    for path in CASES:
        stated, _ = load(path)
        for greedy in (GreedyBySize(), GreedyByConflicts()):
            plan, other = Auto()(stated), greedy(stated)
            assert other is None or (plan is not None and quality(stated, plan) <= quality(stated, other))


def test_the_plan_says_who_won() -> None:
    chain = alive({"a": (0, 2, 10), "b": (1, 3, 20), "c": (2, 4, 10)})
    plan = Auto()(chain)
    assert plan is not None
    assert plan.algorithm == "auto: greedy_by_size"
    mixed, _ = load(next(path for path in CASES if path.stem == "alignment_mixed"))
    plan = Auto()(mixed)
    assert plan is not None
    assert plan.algorithm == "auto: exact"


def test_a_buffer_without_room_moves_forward() -> None:
    """By size, the large buffers fill both pools, and the small one can only go to the second."""
    stated = problem(
        [buffer("large", 60, (0, 1)), buffer("middle", 50, (0, 1)), buffer("small", 40, (1,))],
        pools={"first": 110, "second": 40},
    )
    assert GreedyBySize()(stated) is not None
    tight = problem(
        [buffer("large", 60, (1, 0)), buffer("middle", 50, (1, 0)), buffer("small", 40, (1,))],
        pools={"first": 110, "second": 60},
    )
    assert GreedyBySize()(tight) is None
    plan = Auto()(tight)
    assert plan is not None
    assert places(tight, plan)["small"][0] == "second"


def test_what_costs_most_goes_to_the_better_pool() -> None:
    stated = problem(
        [buffer("large", 60, (0, 1), costs=(0, 10)), buffer("busy", 50, (0, 1), costs=(0, 1000))],
        pools={"fast": 64, "slow": None},
    )
    assert places(stated, Auto()(stated)) == {"busy": ("fast", 0), "large": ("slow", 0)}


def test_models_that_never_meet_are_planned_apart() -> None:
    one, other = {"a1": (0, 2, 60), "a2": (1, 3, 40)}, {"b1": (3, 5, 30), "b2": (4, 6, 70)}
    alone, together = Auto()(alive(one)), Auto()(alive(one | other))
    assert places(alive(one), alone).items() <= places(alive(one | other), together).items()


def test_by_load_counts_the_bytes_around_a_buffer() -> None:
    stated = problem([buffer("big", 100), buffer("a", 10), buffer("b", 10)], [("a", "big")])
    assert [stated.buffers[index].name for index in by_load(stated, range(3))] == ["big", "a", "b"]


def test_constants_that_are_the_same_again_are_planned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else there is, and however long they are alive."""
    searched, search = [], several_pools.plan_areas

    def counted(stated: Problem, *others: Any) -> Verdict:
        searched.append(len(stated.buffers))
        return search(stated, *others)

    monkeypatch.setattr(several_pools, "plan_areas", counted)
    auto, counts, clique = Auto(), [], tuple(range(9))
    for end in (3, 5):
        constants = [buffer(f"c{i}", 7 + i, (0, 1), costs=(0, i + 1), intervals=((0, end),)) for i in range(9)]
        beside = buffer("w", 5 + end, (2,), intervals=((0, end),))
        apart = problem([*constants, beside], [], {"fast": 40, "slow": None, "ram": None})
        stated = replace(apart, conflicts=(*(Others(clique, number) for number in clique), ()))
        again, alone = auto(stated), Auto()(stated)
        assert again is not None
        assert alone is not None
        assert again.allocations == alone.allocations
        counts.append(len(searched))
    assert searched
    assert counts[1] - counts[0] < counts[0]
