"""Pools are packed again along time: plans stay sound, and only become better."""

from hypothesis import given, settings

from tests.support.drawn_problems import problems
from tests.support.problems import alive, problem
from tests.support.road import request
from tests.support.row_nets import all_rows, drawn
from usmp_build import plugins
from usmp_build.ir.choices import Choices
from usmp_build.planner.algorithms.exact import Exact
from usmp_build.planner.algorithms.greedy import GreedyBySize
from usmp_build.planner.algorithms.portfolio import portfolio
from usmp_build.planner.algorithms.sweep import swept
from usmp_build.planner.memory.plan import Allocation, Plan, quality
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.verify import violations
from usmp_build.search.replanner import Replanner

ENOUGH = 1_000_000


def stacked(stated: Problem) -> Plan:
    """No two buffers share a byte."""
    ends = [0]
    for buffer in stated.buffers:
        ends.append(ends[-1] + buffer.size)
    return Plan("stacked", tuple(Allocation(0, end) for end in ends[:-1]))


def rows(count: int, slack: int) -> Problem:
    """Rows of 10 bytes, three alive at a time; each may begin `slack` bytes below the one that it is computed from."""
    lives = alive({f"r{i:02}": (i, i + 3, 10) for i in range(count)})
    names = [buffer.name for buffer in lives.buffers]
    pairs = [(names[a], names[b]) for a, others in enumerate(lives.conflicts) for b in others if a < b]
    dying = [(names[i], names[i + 2]) for i in range(count - 2)]
    separations = {(later, earlier): slack for earlier, later in dying}
    return problem(list(lives.buffers), pairs, {"ram": None}, separations)


def test_rows_go_round_in_a_ring() -> None:
    stated = rows(40, 9)
    plan = swept(stated, stacked(stated), ENOUGH)
    assert not violations(stated, plan)
    assert plan.algorithm == "sweep"
    places = [place.offset for place in plan.allocations]
    assert places == [place for turn in range(14) for place in places[:3]][:40]
    assert sorted(places[:3]) == [0, 10, 20]


def test_a_pool_without_overlap_is_left_to_the_search() -> None:
    stated = rows(10, 10)
    apart = Problem(stated.pools, stated.buffers, stated.conflicts)
    assert swept(apart, stacked(apart), ENOUGH) == stacked(apart)


def test_the_exact_search_begins_with_a_swept_plan() -> None:
    """So that `exact` takes no more than `auto` where its search does not end."""
    model = plugins.importer("net.tflite", "")(drawn(43, (3, 6)), "net", "net")
    replanner = Replanner.of(request("net"), (model,))
    analysis = replanner.analyze()
    stated = replanner.retime(analysis, Choices({}, {}, all_rows(replanner, analysis))).problem
    first, best = portfolio(stated), Exact(nodes=0)(stated)
    assert first is not None
    assert best is not None
    assert quality(stated, best) < quality(stated, first)


def test_work_is_bounded() -> None:
    stated = rows(40, 2)
    assert swept(stated, stacked(stated), 0) == stacked(stated)


@settings(max_examples=300)
@given(stated=problems())
def test_plans_stay_sound_and_only_become_better(stated: Problem) -> None:
    plan = GreedyBySize()(stated)
    if plan is not None:
        better = swept(stated, plan, ENOUGH)
        assert not violations(stated, better)
        assert better == plan or quality(stated, better) < quality(stated, plan)


def test_what_is_too_large_for_the_core_stays_as_it_was() -> None:
    """The core multiplies what it sweeps."""
    huge = 1 << 52
    lives = alive({f"r{i:02}": (i, i + 3, huge) for i in range(12)})
    stated = Problem(lives.pools, lives.buffers, lives.conflicts, {(2, 0): huge // 2})
    assert swept(stated, stacked(stated), ENOUGH) == stacked(stated)
    assert portfolio(stated) is not None
