"""How the figures of the planner were made: the facts of their page."""

from __future__ import annotations

from datetime import date
from importlib.metadata import PackageNotFoundError, version

from usmp_build.planner.algorithms.core import core


def facts(command: str, machine: str, seconds: float) -> dict[str, str]:
    """Return them by the names that the page uses."""
    return {
        "date": date.today().isoformat(),
        "command": command,
        "machine": machine,
        "core": "with the compiled core" if core() else "without the compiled core",
        "ortools": _ortools(),
        "seconds": f"{seconds:g}",
    }


def _ortools() -> str:
    try:
        return version("ortools")
    except PackageNotFoundError:
        return "(not installed)"
