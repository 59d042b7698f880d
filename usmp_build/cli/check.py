"""Check a linked image, and its map file, against the plan; exit 4 if a pool is not as planned."""

from __future__ import annotations

import argparse
from pathlib import Path

from usmp_build.cli.plan_file import read_plan_file
from usmp_build.cli.table import columns
from usmp_build.errors import CheckFailed
from usmp_build.files import DiskFiles
from usmp_build.image_check.check import ImageReport, check
from usmp_build.image_check.elf import read_elf
from usmp_build.image_check.map_file import read_map
from usmp_build.units import show_bytes


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("plan", help="plan.json, or the folder of the generated files, which holds it")
    parser.add_argument("--elf", required=True, metavar="FILE", help="the linked image")
    parser.add_argument("--map", metavar="FILE", help="its map file, as GNU ld writes it: regions and input sections")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    plan = read_plan_file(parsed.plan)
    image = read_elf(_read(parsed.elf), parsed.elf)
    map_ = None if parsed.map is None else read_map(_read(parsed.map), parsed.map)
    report = check(plan, image, map_)
    if report.wrong:
        raise CheckFailed(*report.wrong)
    print("\n".join(_right(report)))
    return 0


def _read(path: str) -> bytes:
    return DiskFiles(Path(path).parent).read(Path(path).name)


def _right(report: ImageReport) -> list[str]:
    rows = [
        (pool.name, pool.section, f"0x{pool.extent.start:08x}", show_bytes(pool.extent.size), pool.region)
        for pool in report.linked
    ]
    table = columns(("pool", "section", "address", "bytes", "region"), rows, "<<>><") if rows else []
    if not report.unchecked:
        return ["every pool is as planned", *table]
    return ["nothing wrong was found", *table, "not checked, or not there:", *(f"  {why}" for why in report.unchecked)]
