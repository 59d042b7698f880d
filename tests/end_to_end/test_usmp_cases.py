"""TVM's planner cases by the public API and by the command line: sound, right, and never more bytes than TVM's best."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import draw, usmp_cases
from benchmarks.usmp_cases import FOLDER, Case
from tests.support.cli import call
from tests.support.tree import ROOT
from usmp_build.planner.library import Status, solve
from usmp_build.planner.memory.verify import violations

FIGURES = ROOT / "benchmarks" / "data" / "usmp-cases" / "cases.csv"
MISSING = pytest.mark.skip(f"no cases in {FOLDER}; set USMP_PROBLEMS")
CASES = list(usmp_cases.cases())
EACH = [pytest.param(case, id=case.name) for case in CASES] or [pytest.param(None, marks=MISSING)]
FAMILIES = {
    "planner": ("algo_", "hill_", "offsets_", "synthetic_", "derived_", "regress_"),
    "flags": ("tvmc_flags",),
}
"""Kind → how its cases are called."""
NO_PLAN = {"algo_no_pool_error"}
ONE_SIDED = {"algo_fanout"}
"""TVM's figure is of conflicts that count in one direction only."""


@pytest.mark.parametrize("case", EACH)
def test_the_planner_as_a_library(case: Case) -> None:
    solution = solve(case.problem)
    assert (solution.plan is None) == (case.name in NO_PLAN)
    if solution.plan is None:
        assert solution.status is Status.INFEASIBLE
        assert not case.theirs
        return
    assert not violations(case.problem, solution.plan)
    assert solution.status is Status.OPTIMAL
    if case.best is not None:
        assert case.total(solution.plan) <= case.total(case.best)
    if case.correct is not None:
        names = [pool.name for pool in case.problem.pools]
        assert dict(zip(names, solution.peaks, strict=True)) == case.correct


@pytest.mark.parametrize("case", EACH)
def test_the_planner_as_a_command(case: Case, tmp_path: Path) -> None:
    path, out = tmp_path / "problem.json", tmp_path / "plan.json"
    path.write_text(case.text, "utf-8")
    done = call("solve", path, "--out", out)
    assert done.code == (3 if case.name in NO_PLAN else 0), done.err
    if case.name not in NO_PLAN:
        assert call("verify", out, path).code == 0
        record = json.loads(out.read_text("utf-8"))
        assert [pool["peak"] for pool in record["pools"]] == list(solve(case.problem).peaks)


@pytest.mark.parametrize("case", EACH)
@pytest.mark.parametrize("algorithm", usmp_cases.ALGORITHMS)
def test_what_kept_its_name_lost_its_faults(case: Case, algorithm: str) -> None:
    """Neither an overlap nor more bytes than the algorithm of that name takes in TVM, where that is sound."""
    solution = solve(case.problem, algorithm)
    assert (solution.plan is None) == (case.name in NO_PLAN)
    if solution.plan is not None:
        assert not violations(case.problem, solution.plan)
        if algorithm in case.sound:
            assert case.total(solution.plan) <= case.total(case.theirs[algorithm])


@pytest.mark.parametrize("case", EACH)
def test_tvms_own_figures_are_understood(case: Case) -> None:
    """What TVM's tests assert is what its rules give, so that the comparison is fair."""
    expected = json.loads((FOLDER / f"{case.name}.json").read_text("utf-8"))["expected"]
    names = [pool.name for pool in case.problem.pools]
    for row in expected:
        if "pool_sizes" in row:
            plan = case.theirs[row["algorithm"]]
            shown = dict(zip(names, usmp_cases.peaks(case.problem, plan), strict=True))
            assert {name: size for name, size in shown.items() if size} == row["pool_sizes"]
    assert (case.name in ONE_SIDED) == (bool(case.theirs) and not case.sound and "correct" not in _raw(case))


@pytest.mark.parametrize("name", ["auto", *usmp_cases.ALGORITHMS])
@pytest.mark.parametrize("alignment", [8, 16, 256])
@pytest.mark.skipif(not CASES, reason=f"no cases in {FOLDER}; set USMP_PROBLEMS")
def test_the_synthetic_network_at_every_alignment(alignment: int, name: str) -> None:
    """TVM's test asserts its workspace for three alignments; the constants there are not those of the buffer list."""
    rows = json.loads((FOLDER / "synthetic_alignment_table.json").read_text("utf-8"))["rows"]
    theirs = [bytes_ for at, _, bytes_, _, algorithm in rows if at == alignment and name in ("auto", algorithm)]
    case = next(case for case in CASES if case.name == "synthetic_reconstructed_align16")
    buffers = tuple(replace(buffer, alignment=alignment) for buffer in case.problem.buffers)
    solution = solve(replace(case.problem, buffers=buffers), name)
    assert theirs
    assert solution.peaks[0] <= min(theirs)


def _raw(case: Case) -> dict[str, Any]:
    raw: dict[str, Any] = json.loads((FOLDER / f"{case.name}.json").read_text("utf-8"))
    return raw


@pytest.mark.skipif(not CASES, reason=f"no cases in {FOLDER}; set USMP_PROBLEMS")
def test_every_family_is_there() -> None:
    entries = json.loads((FOLDER / "index.json").read_text("utf-8"))
    for kind, families in FAMILIES.items():
        names = [entry["id"] for entry in entries if entry["kind"] == kind]
        assert all(any(name.startswith(family) for name in names) for family in families)
        assert all(name.startswith(families) for name in names)
    assert [case.name for case in CASES] == [entry["id"] for entry in entries if entry["kind"] == "planner"]


@pytest.mark.skipif(not CASES, reason=f"no cases in {FOLDER}; set USMP_PROBLEMS")
def test_the_figures_are_current() -> None:
    current = FIGURES.read_text("utf-8") == draw.as_csv("\n".join(usmp_cases.table()))
    assert current, "run: python -m benchmarks.usmp_cases --out benchmarks/data/usmp-cases"
