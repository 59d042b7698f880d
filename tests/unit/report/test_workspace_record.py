"""What a summary says is proven of a plan."""

from dataclasses import replace

import pytest

from tests.support.road import analyze, model, request
from usmp_build.errors import CheckFailed
from usmp_build.planner.algorithms.greedy import GreedyBySize
from usmp_build.planner.memory.plan import Allocation
from usmp_build.report.summarize import summarize
from usmp_build.search.operator_order import BestCandidate

CHAIN = """
    %0 "x" float32[4]
    %1 "a" float32[4]
    %2 "y" float32[4]
    inputs %0
    outputs %2
    %1 = TANH(%0)
    %2 = TANH(%1)
"""


def chosen(shift: int) -> BestCandidate:
    """A chain of two operators, with every buffer `shift` bytes above where it could be."""
    analysis = analyze(model(CHAIN))
    plan = GreedyBySize()(analysis.problem)
    assert plan is not None
    higher = tuple(Allocation(place.pool, place.offset + shift) for place in plan.allocations)
    return BestCandidate(analysis, replace(plan, allocations=higher), bound=0)


@pytest.mark.parametrize(
    ("shift", "flags", "proven"),
    [
        (16, {}, "nothing"),
        (0, {}, "this schedule"),
        (16, {"directions_are_proven": True}, "this order"),
        (0, {"directions_are_proven": True}, "this order"),
        (0, {"directions_are_proven": True, "orders_are_proven": True}, "every order"),
    ],
)
def test_as_much_is_proven_as_was_searched(shift: int, flags: dict[str, bool], proven: str) -> None:
    best = replace(chosen(shift), **flags)
    assert best.plan is not None
    assert summarize(request("m"), best, best.plan).workspace.proven == proven


def test_no_schedule_needs_less_than_a_run_does_when_it_begins() -> None:
    best = chosen(0)
    assert best.plan is not None
    workspace = summarize(request("m"), best, best.plan).workspace
    assert workspace.any_schedule == workspace.floor == 16 > best.bound


def test_a_plan_below_what_is_proven_is_a_fault() -> None:
    best = replace(chosen(0), bound=1_000)
    assert best.plan is not None
    with pytest.raises(CheckFailed, match="P503"):
        summarize(request("m"), best, best.plan)
