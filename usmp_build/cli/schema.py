"""Print a JSON schema, or the manual page of the manifest, as in schemas/ and docs/."""

from __future__ import annotations

import argparse

from usmp_build.importers.program.records import program_schema
from usmp_build.layout.plan_json import plan_schema
from usmp_build.manifest.page import manifest_page
from usmp_build.manifest.schema import json_schema
from usmp_build.planner.problems.json_form import problem_schema
from usmp_build.planner.problems.solution_record import solution_schema


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--plan", action="store_true", help="the schema of plan.json instead of the manifest's")
    which.add_argument("--problem", action="store_true", help="the schema of problems, as `solve` reads them")
    which.add_argument("--solution", action="store_true", help="the schema of solutions, as `solve` writes them")
    which.add_argument("--program", action="store_true", help="the schema of programs: model files in .program.json")
    which.add_argument("--page", action="store_true", help="docs/manifest.md, made from the same source")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    texts = {
        "plan": plan_schema,
        "problem": problem_schema,
        "solution": solution_schema,
        "program": program_schema,
        "page": manifest_page,
    }
    text = next((text for name, text in texts.items() if getattr(parsed, name)), json_schema)()
    print(text, end="")
    return 0
