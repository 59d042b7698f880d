"""Functions of the application in the self-test: finds missing ones, and tells whose fault a failure is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from usmp_build.errors import CheckFailed, Diagnostic, UsageError
from usmp_build.layout import ModelRow
from usmp_build.layout.layout import Layout


def check_sources(layout: Layout, sources: Sequence[str]) -> None:
    """Raise UsageError for a file that is not there, CheckFailed when functions are called and no file is given."""
    for source in sources:
        if not Path(source).is_file():
            raise UsageError(Diagnostic("U213", f'there is no file "{source}"', help="name C files of the application"))
    if not sources:
        _refuse(_needed(layout), sources)


def refuse_missing(layout: Layout, sources: Sequence[str], output: str) -> None:
    """Raise CheckFailed when the linker says of functions that they are missing."""
    lines = [line for line in output.splitlines() if re.search("undefined|unresolved|referenced from", line)]
    _refuse([name for name in _needed(layout) if re.search(rf"\b_?{name}\b", "\n".join(lines))], sources)


def at_fault(*models: ModelRow, how: str = "") -> str:
    """Say what to do about wrong results; `how` says how to report them."""
    report = f"this is a fault of usmp_build: please report it{how}"
    if any(model.extern_functions for model in models):
        return f"look at the application's functions first; otherwise {report}"
    return report


def _needed(layout: Layout) -> list[str]:
    return sorted({name for row, _ in layout.models for name in row.extern_functions})


def _refuse(missing: Sequence[str], sources: Sequence[str]) -> None:
    if missing:
        where = f"{' and '.join(sources)} should have" if sources else "the application supplies"
        message = f"the test program lacks functions that {where}: {', '.join(missing)}"
        help_ = f"give {'another' if sources else 'the'} C file that has them: --source FILE"
        raise CheckFailed(Diagnostic("S607", message, help=help_))
