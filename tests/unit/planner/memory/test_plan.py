"""Figures of a plan: what it uses, how it ranks, and which proofs it keeps."""

from dataclasses import replace

from tests.support.problems import buffer, by_hand, problem
from usmp_build.planner.memory.plan import of_members, peaks, quality, still_proven

PLAN = by_hand((0, 0), (0, 8), (1, 4), (2, 0))


def test_a_plan_is_ranked_by_cost_then_bytes_then_those_of_the_least_preferred_pool() -> None:
    buffers = [buffer(name, 8, (0, 1, 2), costs=(0, 3, 5)) for name in "abcd"]
    stated = problem(buffers, pools=dict.fromkeys(("fast", "slow", "slowest")))
    assert peaks(stated, PLAN) == (16, 12, 8)
    assert quality(stated, PLAN) == (8, 36, 8, 12, 16)


def test_a_claim_holds_for_another_plan_where_a_pool_has_the_same_buffers() -> None:
    claimed = replace(PLAN, claims=(16, 12, 8))
    assert still_proven(claimed, by_hand((0, 8), (0, 0), (1, 0), (2, 4))) == (16, 12, 8)
    assert still_proven(claimed, by_hand((0, 0), (1, 12), (1, 4), (2, 0))) == (0, 0, 8)
    assert still_proven(PLAN, PLAN) == ()


def test_a_part_of_a_plan_keeps_places_and_no_proof() -> None:
    claimed = replace(PLAN, claims=(16, 12, 8), work=3, bound=(8, 36))
    part = of_members(claimed, [2, 0])
    assert part == replace(PLAN, allocations=(PLAN.allocations[2], PLAN.allocations[0]))
    assert part.work == 0
