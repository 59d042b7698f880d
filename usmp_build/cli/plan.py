"""Plan all models of a manifest and show the plan."""

from __future__ import annotations

import argparse
from dataclasses import replace

from usmp_build import pipeline
from usmp_build.cli.overrides import manifest_arguments
from usmp_build.cli.reading import read_request
from usmp_build.cli.table import plan_table
from usmp_build.layout.plan_json import plan_json


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    manifest_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print plan.json, with alternatives, instead of a table")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    request, files = read_request(parsed)
    planned = pipeline.plan(request, files)
    summary, alternatives = planned.summary, pipeline.compare(planned)
    if parsed.json:
        print(plan_json(replace(summary, alternatives=alternatives)), end="")
    else:
        print(plan_table(summary, alternatives))
    return 0
