"""The auditor lets right plans pass, and finds what was planted in wrong ones."""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.problems import tiny
from usmp_build.errors import ProblemError
from usmp_build.planner import solve
from usmp_build.planner.audit.audit import AuditReport, audit
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.solution import Solution, Status
from usmp_build.planner.memory.verify import violations
from usmp_build.planner.problems.json_form import problem_json
from usmp_build.planner.problems.plan_file import read_plan
from usmp_build.planner.problems.read import read_problem
from usmp_build.planner.problems.solution_write import solution_json
from usmp_build.planner.problems.statement import Statement

COUNT = int(os.environ.get("USMP_FUZZ", "300"))

TIMED = """\
id,lower,upper,size,alignment,pools,offset
a,0,4,60,16,fast:0|slow:5,
b,2,6,40,16,fast:0|slow:5,
c,5,9,100,1,slow,
d,0,9,20,4,slow,256

pool,limit
fast,128
slow,
"""

LOOSE = """\
id,lower,upper,size
a,0,4,60
b,2,6,40

below,above,separation
a,b,50
"""

Document = dict[str, Any]


def stated(text: str) -> Statement:
    return read_problem(text.encode(), "problem.csv")


def document(statement: Statement, capacity: int | None = None) -> Document:
    """The solution as it is written."""
    text = solution_json(statement, solve(statement.problem, capacity=capacity), capacity)
    record: Document = json.loads(text)
    return record


def looked_at(statement: Statement, solution: Document) -> AuditReport:
    return audit(statement, read_plan(json.dumps(solution).encode(), "plan.json"))


def codes(report: AuditReport) -> list[str]:
    return [diagnostic.code for diagnostic in report.wrong]


@pytest.mark.parametrize("text", [TIMED, LOOSE])
def test_a_right_plan_passes(text: str) -> None:
    assert codes(looked_at(stated(text), document(stated(text)))) == []


def change(key: str, number: int, **values: object) -> Callable[[Document], object]:
    return lambda solution: solution[key][number].update(values)


PLANTED: dict[str, tuple[str, Callable[[Document], object]]] = {
    "a buffer is missing": ("V101", lambda s: s["buffers"].pop()),
    "a buffer is unknown": ("V101", change("buffers", 0, name="x")),
    "a buffer is there twice": ("V101", lambda s: s["buffers"].append(s["buffers"][0])),
    "a pool is unknown": ("V102", change("buffers", 0, pool="x")),
    "a pool is not a candidate": ("V102", change("buffers", 2, pool="fast")),
    "an offset is not aligned": ("V103", change("buffers", 0, offset=72)),
    "an end is beyond the limit": ("V104", change("buffers", 0, offset=96)),
    "a start is before the pool": ("V104", change("buffers", 0, offset=-16)),
    "a fixed offset is not kept": ("V105", change("buffers", 3, offset=300)),
    "two buffers overlap": ("V106", lambda s: [b.update(offset=0) for b in s["buffers"][:2]]),
    "a peak is another": ("V107", change("pools", 0, peak=99)),
    "a limit is another": ("V107", change("pools", 0, limit=129)),
    "a pool is missing": ("V107", lambda s: s["pools"].pop()),
    "a bound is not explained": ("V107", change("pools", 0, bound=999)),
    "a witness is of another pool": ("V108", lambda s: s["pools"][0]["witness"]["buffers"].append("c")),
    "a witness counts twice": ("V108", lambda s: s["pools"][0]["witness"].update(buffers=["a", "a"])),
    "a witness is too light": ("V108", lambda s: s["pools"][0]["witness"].update(buffers=["a"])),
    "a witness is dead": ("V108", lambda s: s["pools"][0]["witness"].update(step=20)),
    "witnesses do not conflict": ("V108", lambda s: s["pools"][1]["witness"].update(buffers=["c", "x"])),
    "a plan is there after all": ("V109", lambda s: s.update(status="UNKNOWN")),
    "there is no plan": ("V109", lambda s: s.update(buffers=[])),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_faults_are_detected(fault: str) -> None:
    solution = document(stated(TIMED))
    code, plant = PLANTED[fault]
    plant(solution)
    report = looked_at(stated(TIMED), solution)
    assert code in codes(report)
    assert all(diagnostic.help for diagnostic in report.wrong)


def test_loose_pairs_may_share_what_is_left() -> None:
    solution = document(stated(LOOSE))
    assert [buffer["offset"] for buffer in solution["buffers"]] in ([0, 50], [40, 0])
    solution["buffers"][0]["offset"], solution["buffers"][1]["offset"] = 0, 49
    assert "V106" in codes(looked_at(stated(LOOSE), solution))
    solution = document(stated(LOOSE))
    solution["pools"][0]["witness"]["bytes"] = 100
    assert codes(looked_at(stated(LOOSE), solution)) == ["V108"]


def test_messages_name_a_line_of_the_plan() -> None:
    statement = stated(TIMED)
    text = solution_json(statement, solve(statement.problem), None).replace('"name": "d"', '"name": "e"')
    line = next(number for number, line in enumerate(text.split("\n"), 1) if '"e"' in line)
    (wrong,) = audit(statement, read_plan(text.encode(), "plan.json")).wrong
    assert str(wrong).startswith(f'plan.json:{line}:5: error[V101]: the problem has no buffer "e"')


def test_a_proof_that_nothing_fits() -> None:
    small = TIMED.replace("fast,128", "fast,64").replace("\nslow,\n", "\nslow,300\n").replace("c,5,9,100", "c,5,9,290")
    statement = stated(small)
    solution = document(statement)
    assert solution["status"] == "INFEASIBLE"
    assert codes(looked_at(statement, solution)) == []
    solution["shortage"]["room"] += 1
    assert codes(looked_at(statement, solution)) == ["V107", "V107"]
    solution["shortage"] = None
    assert codes(looked_at(statement, solution)) == ["V109"]


def test_a_proof_must_be_of_buffers_that_have_no_other_place() -> None:
    statement = stated("id,lower,upper,size,pools\na,0,2,60,x|y\nb,0,2,60,x\n\npool,limit\nx,100\ny,100\n")
    witness = {"bytes": 120, "step": 0, "buffers": ["a", "b"]}
    shortage = {"pools": ["x"], "room": 100, "missing": 20, "proven": True, "witness": witness}
    assert codes(looked_at(statement, {"status": "INFEASIBLE", "shortage": shortage})) == ["V108"]
    witness["bytes"], shortage["missing"] = 60, 0
    witness["buffers"] = ["b"]
    assert codes(looked_at(statement, {"status": "INFEASIBLE", "shortage": shortage})) == ["V109"]


def test_what_only_a_search_can_prove_is_not_checked() -> None:
    statement = stated("id,lower,upper,size\na,0,2,8\nb,2,4,8\n")
    places = [{"name": name, "pool": "memory", "offset": offset} for name, offset in (("a", 0), ("b", 8))]
    witness = {"bytes": 8, "step": 0, "buffers": ["a"]}
    claim = {"bytes": 16, "algorithm": "exact", "work": 1234}
    pool = {"name": "memory", "limit": None, "peak": 16, "bound": 16, "witness": witness, "claim": claim}
    report = looked_at(statement, {"status": "OPTIMAL", "pools": [pool], "buffers": places})
    assert codes(report) == []
    assert report.unchecked == ("that memory needs 16 bytes is claimed by exact, work 1,234: not checked",)


def test_one_pool_above_its_bound_is_not_optimal() -> None:
    statement = stated("id,lower,upper,size\na,0,2,8\nb,1,4,8\n")
    solution = document(statement)
    solution["pools"][0]["bound"] = 0
    assert codes(looked_at(statement, solution)) == ["V109"]


def test_offsets_of_other_planners() -> None:
    statement = stated("id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n")
    plan = "id,lower,upper,size,offset\nb1,0,3,4,8\nb2,3,9,4,8\nb3,0,9,4,4\nb4,9,21,4,4\nb5,0,21,4,0\n"
    assert not audit(statement, read_plan(plan.encode(), "out.csv")).wrong
    assert not audit(statement, read_plan(plan.encode(), "out.csv"), capacity=12).wrong
    assert codes(audit(statement, read_plan(plan.encode(), "out.csv"), capacity=11)) == ["V104", "V104"]
    before = plan.replace("b5,0,21,4,0", "b5,0,21,4,-4")
    assert codes(audit(statement, read_plan(before.encode(), "out.csv"))) == ["V104"]
    wrong = plan.replace("b4,9,21,4,4", "b4,9,21,4,3")
    (fault,) = audit(statement, read_plan(wrong.encode(), "out.csv")).wrong
    assert str(fault).startswith('out.csv:6:1: error[V106]: "b4" [3, 7) and "b5" [0, 4) overlap in memory')


@pytest.mark.parametrize("capacity", [None, (1 << 48) - 1])
def test_sums_of_allowed_sizes_may_be_larger_than_one_size(capacity: int | None) -> None:
    """Peaks, bounds, offsets and witnesses beyond 2^48, and what is missing."""
    statement = stated(f"id,lower,upper,size\na,0,3,{(1 << 48) - 1}\nb,0,3,{(1 << 48) - 1}\nc,0,3,9\n")
    solution = solve(statement.problem, capacity=capacity)
    text = solution_json(statement, solution, capacity)
    assert str((1 << 49) + 7) in text  # the three together
    assert not audit(statement, read_plan(text.encode(), "plan.json")).wrong
    if solution.plan is not None:
        assert not audit(statement, as_file(statement, solution, facts=False)).wrong


def test_more_than_can_be_summed_is_refused() -> None:
    for text in (
        "id,offset\na,4611686018427387904\n",
        '{"status": "UNKNOWN", "shortage": {"room": 4611686018427387904}}',
    ):
        with pytest.raises(ProblemError, match="at most 4,611,686,018,427,387,903"):
            read_plan(text.encode(), "plan")


@pytest.mark.parametrize(("offset", "expected"), [(0, []), (3, ["V106"]), (8, [])])
def test_an_empty_buffer_is_not_inside_another(offset: int, expected: list[str]) -> None:
    """Whoever looks: the auditor along the timeline, `memory.verify`, and the planner."""
    statement = stated(f"id,lower,upper,size,offset\na,0,4,8,0\nb,1,3,0,{offset}\n")
    assert isinstance(statement.problem, Problem)
    plan = Plan("by hand", (Allocation(0, 0), Allocation(0, offset)))
    file = as_file(statement, Solution(Status.FEASIBLE, plan), facts=False)
    assert codes(audit(statement, file)) == expected
    assert bool(violations(statement.problem, plan)) == bool(expected)
    assert (solve(statement.problem).plan is None) == bool(expected)


@pytest.mark.parametrize("part", range(4))
def test_it_judges_places_as_memory_verify_does(part: int) -> None:
    """Two checkers that share nothing, on plans with faults and without."""
    judged = {True: 0, False: 0}
    for seed in range(part, COUNT, 4):
        problem = tiny(seed)
        if not problem.buffers or any((b.offset or 0) % b.alignment for b in problem.buffers):
            continue
        statement = read_problem(problem_json(problem).encode(), "problem.json")
        solution = solve(problem)
        assert not audit(statement, as_file(statement, solution)).wrong, solution
        if solution.plan is None:
            continue
        for index in range(len(problem.buffers)):
            moved = move(problem, solution.plan, index, seed)
            report = audit(statement, as_file(statement, Solution(solution.status, moved), facts=False))
            assert bool(report.wrong) == bool(violations(problem, moved))
            judged[bool(report.wrong)] += 1
    assert min(judged.values()) > 5


def move(problem: Problem, plan: Plan, index: int, seed: int) -> Plan:
    """Put one buffer somewhere else."""
    places = list(plan.allocations)
    buffer = problem.buffers[index]
    pool = buffer.pools[seed % len(buffer.pools)]
    places[index] = Allocation(pool, max(0, places[index].offset + (seed % 7 - 3) * buffer.alignment))
    return Plan("moved", tuple(places))


def as_file(statement: Statement, solution: Solution, facts: bool = True) -> Any:
    if facts:
        return read_plan(solution_json(statement, solution, None).encode(), "plan.json")
    assert solution.plan is not None
    rows = zip(statement.names, solution.plan.allocations, strict=True)
    lines = [f"{name},{statement.pools[place.pool].name},{place.offset}" for name, place in rows]
    return read_plan("\n".join(["id,pool,offset", *lines]).encode(), "plan.csv")
