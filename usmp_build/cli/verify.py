"""Verify a plan of a memory problem by code that shares nothing with the planner; exit 4 if it is wrong."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from usmp_build.cli.problem_file import capacity, capacity_argument, read_bytes, read_statement
from usmp_build.errors import CheckFailed
from usmp_build.installation import checker
from usmp_build.planner.audit.audit import audit
from usmp_build.planner.problems.plan_file import PlanFile, read_plan


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("plan", help="what `solve --out` wrote (.json), or ids and offsets (.csv) of any planner")
    parser.add_argument("problem", help="the problem: CSV or JSON")
    parser.add_argument(
        "--print-checker",
        action=_PrintChecker,
        help="print a program that checks plan.json of `generate` against the model files, with Python alone, and exit",
    )
    capacity_argument(parser)


class _PrintChecker(argparse.Action):
    """Prints the program and exits, as `--version` does."""

    def __init__(self, option_strings: Sequence[str], dest: str, **rest: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **rest)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(checker(), end="")
        parser.exit()


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    room = capacity(parsed)
    statement = read_statement(parsed.problem)
    plan = read_plan(read_bytes(parsed.plan), parsed.plan)
    report = audit(statement, plan, room)
    if report.wrong:
        raise CheckFailed(*report.wrong)
    print(_right(plan, len(statement.names)))
    print("\n".join(report.unchecked), end="\n" if report.unchecked else "")
    return 0


def _right(plan: PlanFile, buffers: int) -> str:
    status = "" if plan.facts is None else f"{plan.facts.status}: "
    if plan.placed or not buffers:
        return f"{status}every place of {buffers:,} buffers is right, and so is all that can be checked by looking"
    proof = plan.facts is not None and plan.facts.shortage is not None and plan.facts.shortage.proven
    return f"{status}there is no plan{', and the proof holds' if proof else ', and no proof to check'}"
