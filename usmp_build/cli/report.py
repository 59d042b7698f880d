"""Write a plan as one HTML page, which needs no network and no script; or a pool of it as SVG.

From plan.json, or the folder of the generated files, it shows what the plan says.  From a manifest it plans first, and
also shows what changes of the manifest would do, and what operators move and call.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from usmp_build import pipeline, plugins
from usmp_build.cli.overrides import manifest_arguments
from usmp_build.cli.plan_file import read_plan_file
from usmp_build.cli.progress import Progress
from usmp_build.cli.reading import read_request
from usmp_build.document.suggest import quoted, suggestion
from usmp_build.errors import Diagnostic, UsageError
from usmp_build.layout import PlanRecord, PoolRecord
from usmp_build.layout.buffers import buffer_records
from usmp_build.output import writer
from usmp_build.report.page import report_page, report_picture
from usmp_build.report.study import Study
from usmp_build.report.without_kernels import lines_without_kernels, refuse_without_kernels


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    manifest_arguments(parser)
    parser.add_argument("--out", metavar="FILE", help="where to write (default: report.html, or POOL.svg)")
    parser.add_argument("--svg", metavar="POOL", help="write only the memory map of this workspace pool, as SVG")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    plan, study = _plan(parsed)
    if parsed.svg is None:
        out, text = parsed.out or "report.html", report_page(plan, study)
    else:
        out, text = parsed.out or f"{parsed.svg}.svg", report_picture(plan, _pool(plan, parsed.svg))
    writer.write_text(out, text)
    print(out)
    return 0


def _plan(parsed: argparse.Namespace) -> tuple[PlanRecord, Study | None]:
    """Return a plan from its file, or planned now, and with --svg no more than that."""
    paths = parsed.manifest
    if len(paths) == 1 and _is_plan(paths[0]):
        return read_plan_file(paths[0]), None
    with Progress(parsed) as progress:
        progress("planning")
        request, files = read_request(parsed)
        planned = pipeline.plan(request, files, progress.step)
        refuse_without_kernels(request, planned.analysis)
        progress("planning other manifests")
        study = pipeline.study(planned) if parsed.svg is None else None
    print(*(f"{line}\n" for line in lines_without_kernels(request, planned.analysis)), sep="", end="", file=sys.stderr)
    plan: PlanRecord = planned.summary
    return replace(plan, buffers=buffer_records(plan.buffers)), study


def _is_plan(path: str) -> bool:
    is_model = path.lower().endswith(tuple(plugins.importer_suffixes()))
    return Path(path).is_dir() or (path.lower().endswith(".json") and not is_model)


def _pool(plan: PlanRecord, name: str) -> PoolRecord:
    pools = {pool.name: pool for pool in plan.pools if pool.is_workspace and pool.size}
    if name not in pools:
        help_ = suggestion(name, pools, "workspace pools that are not empty")
        raise UsageError(Diagnostic("U215", f"there is no map of pool {quoted(name)}", "--svg", help_))
    return pools[name]
