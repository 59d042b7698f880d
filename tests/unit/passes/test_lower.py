"""The problem: candidates, costs, conflicts, units of constants."""

from tests.support.road import PlanOnly, analyze, model
from tests.support.small_models import KERNEL, VIEWED, WEIGHTS


def test_buffers_of_models_that_exclude_each_other_do_not_conflict() -> None:
    problem = analyze(model(VIEWED, "a"), model(VIEWED, "b")).problem
    assert [[problem.buffers[j].name for j in others] for others in problem.conflicts] == [
        ["a.a"],
        ["a.x", "a.y"],
        ["a.a"],
        ["b.a"],
        ["b.x", "b.y"],
        ["b.a"],
    ]


def test_the_cost_of_a_pool_is_traffic_times_rank() -> None:
    problem = analyze(model(VIEWED), limits=(64, None)).problem
    assert problem.buffers[1].pools == (0, 1)
    assert problem.buffers[1].costs == (0, 32)  # 16 bytes written, 16 read


def test_constants_stand_in_whole_units_and_meet_no_workspace_buffer() -> None:
    problem = analyze(model(WEIGHTS), library=PlanOnly({"TANH": KERNEL})).problem
    by_name = {buffer.name: buffer for buffer in problem.buffers}
    assert (by_name["m.w"].size, by_name["m.w"].alignment, by_name["m.y.table"].size) == (8, 8, 16)
    names = [buffer.name for buffer in problem.buffers]
    assert [names[j] for j in problem.conflicts[names.index("m.w")]] == ["m.y.table"]
