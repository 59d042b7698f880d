"""Plan all models of a manifest and show the plan."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from usmp_build.cli.overrides import manifest_arguments
from usmp_build.cli.progress import Progress
from usmp_build.cli.reading import read_request
from usmp_build.cli.table import plan_table
from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.report.remarks import over_budget


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    manifest_arguments(parser)
    parser.add_argument(
        "--fail-over-budget", action="store_true", help="exit 4 if a pool or a model exceeds its budget"
    )
    parser.add_argument("--json", action="store_true", help="print plan.json, with alternatives, instead of a table")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    from usmp_build import pipeline  # only now: help and completion do without it
    from usmp_build.report.lost_values import lost_values
    from usmp_build.report.without_kernels import lines_without_kernels, refuse_without_kernels

    request, files = read_request(parsed)
    with Progress(parsed) as progress:
        progress("planning")
        planned = pipeline.plan(request, files, progress.step)
        refuse_without_kernels(request, planned.analysis)
        progress("planning alternatives")
        summary, alternatives = planned.summary, pipeline.compare(planned)
    if parsed.json:
        from usmp_build.layout.plan_json import plan_json  # only now: with what checks records

        print(plan_json(replace(summary, alternatives=alternatives)), end="")
    else:
        notes = (f'note: model "{model.name}": {note}' for model in planned.imported for note in model.notes)
        print(*notes, *lines_without_kernels(request, planned.analysis), plan_table(summary, alternatives), sep="\n")
    for warning in lost_values(request.models, planned.imported):
        print(warning, file=sys.stderr)
    over = tuple(over_budget(summary, alternatives)) if parsed.fail_over_budget else ()
    if over:
        raise CheckFailed(*(Diagnostic("U248", sentence, summary.manifest) for sentence in over))
    return 0
