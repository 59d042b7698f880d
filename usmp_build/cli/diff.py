"""Compare two plans (plan.json): what grew, shrank, moved, came and went."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict

from usmp_build.cli.diff_markdown import markdown
from usmp_build.cli.plan_file import plan_path
from usmp_build.cli.table import columns
from usmp_build.errors import CheckFailed, Diagnostic, UsageError, one_line
from usmp_build.files import DiskFiles
from usmp_build.layout import PlanRecord
from usmp_build.layout.plan_json import read_plan
from usmp_build.report.plan_diff import BufferDifference, PlanDifference, plan_difference
from usmp_build.units import count_bytes, parse_size, show_bytes


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("old", help="plan.json before, or the folder that it is in")
    parser.add_argument("new", help="plan.json after, or the folder that it is in")
    parser.add_argument(
        "--format", choices=sorted(_FORMATS), default="text", help="markdown is for comments on pull requests"
    )
    parser.add_argument(
        "--fail-if-grows",
        nargs="?",
        const="0",
        metavar="BYTES",
        help="exit 4 if a pool grows, by more than this size (default: 0)",
    )


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    allowed = None if parsed.fail_if_grows is None else _size(parsed.fail_if_grows)
    difference = plan_difference(_read(parsed.old), _read(parsed.new))
    print("\n".join(_FORMATS[parsed.format](difference)))
    if allowed is not None:
        _refuse_growth(difference, allowed)
    return 0


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise UsageError(Diagnostic("U216", str(error), "--fail-if-grows")) from None


def _read(path: str) -> PlanRecord:
    file = plan_path(path)
    data = DiskFiles(file.parent).read(file.name)
    return read_plan(data, str(file), UsageError, "U204", "give the plan.json of two runs of generate")


def _refuse_growth(difference: PlanDifference, allowed: int) -> None:
    """Raise CheckFailed if a pool grows by more than `allowed` bytes."""
    than = f", more than {show_bytes(allowed)}" if allowed else ""
    grown = [
        Diagnostic("U247", f"pool {pool.name} grows by {count_bytes(pool.growth)}{than}")
        for pool in difference.pools
        if pool.growth > allowed
    ]
    if grown:
        raise CheckFailed(*grown)


def _text(difference: PlanDifference) -> Iterator[str]:
    yield from (f"{each.target}: planned for isa {each.new}, before for {each.old}" for each in difference.instructions)
    rows = [(pool.name, show_bytes(pool.old), show_bytes(pool.new), f"{pool.growth:+,}") for pool in difference.pools]
    yield from columns(("pool", "old", "new", "change"), rows, "<>>>")
    yield from (f"warning: {sentence}" for sentence in difference.over_budget)
    if difference.buffers:
        yield ""
    yield from map(_line, difference.buffers)


def _line(buffer: BufferDifference) -> str:
    name = one_line(buffer.name)
    if buffer.change == "removed":
        return f"- {name}  {buffer.old}"
    if buffer.change == "added":
        return f"+ {name}  {buffer.new}"
    if buffer.old == buffer.new:
        return f"~ {name}  {buffer.new}: rows have other places among these"
    return f"~ {name}  {buffer.old} -> {buffer.new}"


def _json(difference: PlanDifference) -> Iterator[str]:
    yield json.dumps(asdict(difference), indent=1)


_FORMATS: Mapping[str, Callable[[PlanDifference], Iterator[str]]] = {
    "json": _json,
    "markdown": markdown,
    "text": _text,
}
