"""Arguments and reading of files shared by the verbs for memory problems."""

from __future__ import annotations

import argparse
from pathlib import Path

from usmp_build.errors import Diagnostic, UsageError
from usmp_build.files import DiskFiles
from usmp_build.planner.problems.read import read_problem
from usmp_build.planner.problems.statement import Statement
from usmp_build.units import MAX_BYTES, parse_size, show_bytes


def read_bytes(path: str) -> bytes:
    """Read a file that the command line names."""
    return DiskFiles(Path(path).parent).read(Path(path).name)


def read_statement(path: str) -> Statement:
    """Read the problem that the command line names."""
    return read_problem(read_bytes(path), path)


def capacity_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the limit of pools that have none."""
    parser.add_argument("--capacity", metavar="BYTES", help='limit of every pool without one: 65536, or "64 KiB"')


def capacity(parsed: argparse.Namespace) -> int | None:
    """Return the limit of pools that have none.  Raises UsageError when it is not a size."""
    if parsed.capacity is None:
        return None
    try:
        room = parse_size(parsed.capacity[:64])
    except ValueError as error:
        reason, _, help_ = str(error).rpartition("; ")
        raise UsageError(Diagnostic("U209", f"--capacity: {reason}", help=help_)) from None
    if room > MAX_BYTES:
        raise UsageError(Diagnostic("U209", "--capacity is too large", help=f"at most {show_bytes(MAX_BYTES)} bytes"))
    return room
