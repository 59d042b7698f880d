"""Problems as JSON and CSV, there and back."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import assume, given

from tests.support.cli import call
from tests.support.drawn_problems import problems
from tests.support.problems import CASES, alive, buffer, load, problem
from tests.support.tree import ROOT
from usmp_build.errors import ProblemError
from usmp_build.planner import solve
from usmp_build.planner.memory.problem import Pool, Problem
from usmp_build.planner.problems.csv_write import problem_csv
from usmp_build.planner.problems.json_form import problem_json
from usmp_build.planner.problems.read import read_problem

SCHEMA = json.loads((ROOT / "schemas" / "problem.schema.json").read_text("utf-8"))


@given(original=problems())
def test_json_holds_every_problem(original: Problem) -> None:
    assume(all((b.offset or 0) % b.alignment == 0 for b in original.buffers))  # which nobody means
    text = problem_json(original)
    jsonschema.validate(json.loads(text), SCHEMA)
    statement = read_problem(text.encode(), "problem.json")
    assert (statement.problem, statement.timed) == (with_costs(original), False)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_json_holds_our_cases(path: Path) -> None:
    original, _ = load(path)
    assert read_problem(problem_json(original).encode(), "problem.json").problem == with_costs(original)


def with_costs(original: Problem) -> Problem:
    """Say that nothing costs anything where there is a choice: files mean something else by saying nothing."""
    free = [b.costs or ((0,) * len(b.pools) if len(b.pools) > 1 else ()) for b in original.buffers]
    buffers = (replace(b, costs=costs) for b, costs in zip(original.buffers, free, strict=True))
    return replace(original, buffers=tuple(buffers))


def test_without_costs_the_order_of_pools_is_one_of_preference() -> None:
    rows = "id,lower,upper,size,pools\na,0,2,8,sram tcm\nb,0,2,16,\nc,0,2,8,sram|tcm:3\n\npool,limit\ntcm,\nsram,\n"
    stated = read_problem(rows.encode(), "problem.csv").problem
    assert isinstance(stated, Problem)
    assert [(b.pools, b.costs) for b in stated.buffers] == [((1, 0), (0, 8)), ((0, 1), (0, 16)), ((1, 0), (0, 3))]
    solution = solve(stated)
    assert solution.plan is not None
    assert [place.pool for place in solution.plan.allocations] == [1, 0, 1]


def test_conflicts_follow_from_intervals_unless_they_are_given() -> None:
    document = {"buffers": [{"name": n, "size": 8, "intervals": [[i, i + 2]]} for i, n in enumerate("abc")]}
    statement = read_problem(json.dumps(document).encode(), "problem.json")
    assert isinstance(statement.problem, Problem)
    assert (statement.problem.conflicts, statement.timed) == (((1,), (0, 2), (1,)), True)
    statement = read_problem(json.dumps(document | {"conflicts": [["c", "a"]]}).encode(), "problem.json")
    assert isinstance(statement.problem, Problem)
    assert (statement.problem.conflicts, statement.timed) == (((2,), (), (0,)), False)
    jsonschema.validate(document, SCHEMA)


def test_csv_holds_what_follows_from_intervals() -> None:
    original = Problem(
        (Pool("tcm", 4096), Pool("sram")),
        (
            buffer("a, b", 100, [0, 1], costs=(0, 7), alignment=16, intervals=((0, 2), (4, 6))),
            buffer('the "c"', 64, [1], intervals=((1, 5),), offset=32),
            buffer("d", 0, [1, 0], intervals=((8, 9),)),
        ),
        ((1,), (0,), ()),
        {(0, 1): -3, (1, 0): 64},
    )
    text = problem_csv(original)
    statement = read_problem(text.encode(), "problem.csv")
    assert (statement.problem, statement.timed) == (with_costs(original), True)


@pytest.mark.parametrize(
    "original",
    [
        problem([buffer("a", 1, intervals=((0, 2),)), buffer("b", 1, intervals=((2, 4),))]),
        problem([buffer("a", 1)], []),
        alive({"a\nb": (0, 1, 2)}),
        alive({" a": (0, 1, 2)}),
        alive({"#a": (0, 1, 2)}),
        problem([buffer("a", 1, intervals=((0, 2),))], [], {"a|b": None}),
    ],
)
def test_csv_refuses_what_would_not_read_back(original: Problem) -> None:
    with pytest.raises(ProblemError, match="Q114"):
        problem_csv(original)


def test_the_schema_refuses_what_the_reader_refuses() -> None:
    for path in (ROOT / "tests" / "cases" / "problems").glob("kinds*.json"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(path.read_text("utf-8")), SCHEMA)
    assert call("schema", "--problem").out == (ROOT / "schemas" / "problem.schema.json").read_text("utf-8")
