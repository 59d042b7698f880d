"""TVM's planner cases: what its algorithms need, what we need, and what is right.

    python -m benchmarks.usmp_cases                                      # prints the table
    python -m benchmarks.usmp_cases --out benchmarks/data/usmp-cases     # writes it as CSV, too

The cases are read from `usmp` in the folder $USMP_PROBLEMS, else in ../shared/cases beside the project.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import draw
from usmp_build.planner import solve
from usmp_build.planner.memory import Allocation, Plan, Problem
from usmp_build.planner.memory.plan import peaks
from usmp_build.planner.memory.solution import Solution, Status
from usmp_build.planner.memory.verify import violations
from usmp_build.planner.problems import read_problem
from usmp_build.units import show_bytes

ROOT = Path(__file__).parents[1]
FOLDER = Path(os.environ.get("USMP_PROBLEMS") or ROOT.parent / "shared" / "cases") / "usmp"
ALGORITHMS = ("greedy_by_size", "greedy_by_conflicts", "hill_climb")
"""TVM's, the default first."""
_HEAD = """\
| case | buffers | TVM's default | TVM's best | here | right | |
|---|--:|--:|--:|--:|--:|---|"""
_MEANING = {
    Status.OPTIMAL: "",
    Status.FEASIBLE: "not proven",
    Status.INFEASIBLE: "there is none, proven",
    Status.UNKNOWN: "none found",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A problem, what TVM makes of it, and what is right."""

    name: str
    text: str
    """The problem as `usmp-build solve` reads it, as JSON."""
    problem: Problem
    theirs: Mapping[str, Plan]
    """TVM's algorithm → its plan, sound or not; those that find none are missing."""
    correct: Mapping[str, int] | None
    """Pool → bytes that are right, where the case knows."""

    @property
    def sound(self) -> dict[str, Plan]:
        """The plans of TVM's that hold."""
        return {name: plan for name, plan in self.theirs.items() if not violations(self.problem, plan)}

    def total(self, plan: Plan) -> int:
        """Return the bytes that a plan takes of all pools together."""
        return sum(peaks(self.problem, plan))

    @property
    def best(self) -> Plan | None:
        """The plan of TVM's that takes the fewest bytes, of those that hold."""
        return min(self.sound.values(), key=self.total, default=None)


def cases() -> Iterator[Case]:
    """Read all planner cases, in the order of their index; none when the folder is missing."""
    index = FOLDER / "index.json"
    entries = json.loads(index.read_text("utf-8")) if index.is_file() else []
    for entry in entries:
        if entry["kind"] == "planner":
            yield _case(json.loads((FOLDER / f"{entry['id']}.json").read_text("utf-8")))


def table() -> list[str]:
    """Return the lines of the table, as Markdown."""
    return [*_HEAD.splitlines(), *(row(case, solve(case.problem)) for case in cases())]


def row(case: Case, ours: Solution) -> str:
    """Show one case."""
    found = show(case, ours.plan) if ours.plan else "none"
    right = "-" if case.correct is None else _bytes(case.correct)
    cells = (_theirs(case, ALGORITHMS[0]), show(case, case.best), found, right)
    return f"| `{case.name}` | {len(case.problem.buffers)} | {' | '.join(cells)} | {_MEANING[ours.status]} |"


def show(case: Case, plan: Plan | None) -> str:
    """Show what a plan takes of each pool that it uses."""
    if plan is None:
        return "none"
    names = [pool.name for pool in case.problem.pools]
    return _bytes(dict(zip(names, peaks(case.problem, plan), strict=True)))


def _theirs(case: Case, algorithm: str) -> str:
    plan = case.theirs.get(algorithm)
    shown = show(case, plan)
    return shown if plan is None or algorithm in case.sound else f"{shown}, **wrong**"


def _bytes(sizes: Mapping[str, int]) -> str:
    return " + ".join(show_bytes(size) for size in sizes.values() if size) or "0"


def _case(case: dict[str, Any]) -> Case:
    right = case.get("correct", {})
    text = json.dumps(_stated(case, right.get("conflicts")), indent=1)
    problem = read_problem(text.encode(), case["id"]).problem
    if not isinstance(problem, Problem):
        raise TypeError(f"{case['id']} is no problem of pairs")
    sizes = (right.get(key) for key in ("best_pool_sizes", "pool_sizes", "lower_bound"))
    return Case(case["id"], text, problem, _plans(case, problem), next(filter(None, sizes), None))


def _stated(case: dict[str, Any], conflicts: Mapping[str, list[str]] | None) -> dict[str, Any]:
    """State a case in our form: a limit of -1 is none, and a conflict is mutual."""
    lists = conflicts or {buffer["name"]: buffer["conflicts"] for buffer in case["buffers"]}
    pairs = {(min(a, b), max(a, b)) for a, others in lists.items() for b in others if a != b}
    limits = {pool["name"]: pool["size_hint_bytes"] for pool in case["pools"]}
    return {
        "pools": [{"name": name, "limit": None if limit < 0 else limit} for name, limit in limits.items()],
        "buffers": [{key: buffer[key] for key in ("name", "size", "alignment", "pools")} for buffer in case["buffers"]],
        "conflicts": sorted(map(list, pairs)),
    }


def _plans(case: dict[str, Any], problem: Problem) -> dict[str, Plan]:
    pools = {pool.name: index for index, pool in enumerate(problem.pools)}
    found = {}
    for name in ALGORITHMS:
        places = case["reference_simulation"][name].get("offsets") or {}
        if len(places) == len(problem.buffers):
            pairs = [places[buffer.name] for buffer in problem.buffers]
            found[name] = Plan(name, tuple(Allocation(pools[pool], offset) for pool, offset in pairs))
    return found


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.usmp_cases", description="TVM's planner cases.")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write a CSV file, too")
    parsed = parser.parse_args(arguments)
    if not FOLDER.is_dir():
        print(f"no cases in {FOLDER}; set USMP_PROBLEMS", file=sys.stderr)
        return 1
    cases = "\n".join(table())
    print(cases)
    if parsed.out:
        draw.save(parsed.out, {"cases": cases})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
