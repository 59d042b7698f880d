"""What it costs a buffer to be in a pool: time where speeds are known, else rank."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from tests.support.road import analyze_as, model, request
from tests.support.small_models import VIEWED
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.choices import Choices
from usmp_build.ir.costs import CostUnit
from usmp_build.passes import by_rows
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.plan import quality
from usmp_build.planner.memory.verify import violations
from usmp_build.request import Speed
from usmp_build.search.replanner import Replanner
from usmp_build.units import MAX_SUM


def speed(
    read: int | None = None,
    write: int | None = None,
    latency: tuple[int | None, int | None] = (None, None),
    clock: int | None = None,
    bursts: Mapping[int, int] | None = None,
) -> Speed:
    return Speed(clock, read, write, *latency, bursts or {})


def with_speeds(*speeds: Speed | None, text: str = VIEWED) -> Analysis:
    """One model in as many workspace pools; of each buffer in it, 16 bytes are read and 16 written."""
    asked = request("m", limits=(None,) * len(speeds))
    pools = tuple(replace(pool, speed=own) for pool, own in zip(asked.pools, (*speeds, None), strict=True))
    return analyze_as(replace(asked, pools=pools), model(text))


def test_without_speeds_costs_are_bytes_times_rank() -> None:
    costs = with_speeds(None, None, None).costs
    assert (costs.unit, costs.scale, costs.values[1]) == (CostUnit.RANK, 1, (0, 32, 64))
    assert (costs.unknown, costs.ranked) == ((), 0)


def test_cycles_are_bytes_by_bandwidth() -> None:
    costs = with_speeds(speed(8, 4), speed(1, 1)).costs
    assert costs.unit is CostUnit.CYCLES
    assert [costs.of(cost) for cost in costs.values[1]] == [16 / 8 + 16 / 4, 32]


def test_latency_counts_for_every_burst_of_the_target_that_moves_the_bytes() -> None:
    slow, fast = speed(4, 4, (2, 1)), speed(4, 4, (2, 1), bursts={0: 16})
    costs = with_speeds(slow, fast).costs
    assert [costs.of(cost) for cost in costs.values[1]] == [16 * 2 + 16 + 8, 2 + 1 + 8]


def test_what_is_left_out_of_one_direction_is_as_in_the_other() -> None:
    for half, whole in [
        (speed(4), speed(4, 4)),
        (speed(None, 4), speed(4, 4)),
        (speed(4, 4, (3, None)), speed(4, 4, (3, 3))),
        (speed(4, 4, (None, 3)), speed(4, 4, (3, 3))),
        (speed(4, 4), speed(4, 4, (0, 0))),
    ]:
        costs = with_speeds(half, whole).costs
        assert costs.values[1][0] == costs.values[1][1]


def test_clocks_make_seconds() -> None:
    costs = with_speeds(speed(8, 8, clock=100), speed(8, 8, clock=50)).costs
    assert costs.unit is CostUnit.SECONDS
    assert [costs.of(cost) for cost in costs.values[1]] == [Fraction(4, 100), Fraction(4, 50)]


def test_a_pool_of_unknown_speed_makes_ranks_of_the_slowest_clock_and_is_named() -> None:
    costs = with_speeds(speed(8, 8, clock=100), speed(8, 8, clock=50), None).costs
    assert [costs.of(cost) for cost in costs.values[1]] == [0, Fraction(32, 50), Fraction(64, 50)]
    assert (costs.unknown, costs.ranked) == ((2,), 3)


def test_without_a_bandwidth_a_speed_is_not_known() -> None:
    costs = with_speeds(speed(latency=(2, 2), clock=100), speed(8, 8, clock=50)).costs
    assert costs.unknown == (0,)
    costs = with_speeds(speed(latency=(2, 2)), None).costs
    assert (costs.unit, costs.unknown) == (CostUnit.RANK, (0, 1))


def test_sums_stay_within_62_bits_and_close_to_what_they_are() -> None:
    huge = 2_147_483_563  # a prime, as are the others: what they have in common is far beyond 62 bits
    speeds = [speed(huge, huge - 2, clock=1_000_000_007), speed(999_999_937, 7, (1 << 47, 1), clock=998_244_353)]
    costs = with_speeds(*speeds).costs
    assert sum(map(max, costs.values)) <= MAX_SUM
    exact = 16 * ((1 << 47) + Fraction(1, 999_999_937)) + 16 * (1 + Fraction(1, 7))
    assert abs(costs.of(costs.values[1][1]) - exact / 998_244_353) < Fraction(1, 1000)


def test_costs_have_one_unit_however_a_tensor_is_cut() -> None:
    """At 9 bytes a cycle, 36 bytes of a tensor take whole cycles, and 12 bytes of a row do not."""
    text = """
    %0 "x" float32[1,3,3,1]
    %1 "a" float32[1,3,3,1]
    %2 "y" float32[1,3,3,1]
    inputs %0
    outputs %2
    %1 = TANH(%0) @0
    %2 = TANH(%1) @1
    """
    asked = request("m", limits=(None, None))
    speeds = (speed(9, 9), speed(1, 1), None)
    asked = replace(asked, pools=tuple(replace(pool, speed=own) for pool, own in zip(asked.pools, speeds, strict=True)))
    replanner = Replanner.of(asked, (model(text),))
    whole = replanner.analyze()
    rows = by_rows(asked, whole, 0)
    assert rows.tables
    cut = replanner.retime(whole, Choices({}, {}, rows))
    assert whole.costs.scale == cut.costs.scale
    fast, slow = (sum(costs[pool] for costs in whole.costs.values if len(costs) > 1) for pool in (0, 1))
    assert [fast, slow] == [sum(costs[pool] for costs in cut.costs.values if len(costs) > 1) for pool in (0, 1)]


def test_the_default_algorithm_copes_with_the_largest_costs() -> None:
    problem = with_speeds(speed(999_999_937, 7, (1 << 47, 1)), speed(2_147_483_563, 11)).problem
    plan = Auto()(problem)
    assert plan is not None
    assert not violations(problem, plan)
    assert {place.pool for place in plan.allocations} == {1}
    assert plan.bound == quality(problem, plan)
