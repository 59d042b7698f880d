"""The page docs/planner-benchmarks.md: the tables, how they were made, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from string import Template

from usmp_build.planner.algorithms.core import core

_TEMPLATE = Path(__file__).with_name("page.md.in")


def page(parts: Mapping[str, str], command: str, machine: str, seconds: float) -> str:
    """Return the whole page; `parts` are tables by the names that page.md.in uses."""
    facts = {
        "date": date.today().isoformat(),
        "command": command,
        "machine": machine,
        "core": "with the compiled core" if core() else "without the compiled core",
        "ortools": _ortools(),
        "seconds": f"{seconds:g}",
    }
    return Template(_TEMPLATE.read_text("utf-8")).substitute(facts, **parts)


def _ortools() -> str:
    try:
        return version("ortools")
    except PackageNotFoundError:
        return "(not installed)"
