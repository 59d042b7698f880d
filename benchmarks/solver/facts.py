"""How the figures of the planner were made: the facts of their page."""

from __future__ import annotations

from datetime import date
from importlib.metadata import PackageNotFoundError, version


def facts(command: str, machine: str, seconds: float) -> dict[str, str]:
    """Return them by the names that the page uses."""
    return {
        "date": date.today().isoformat(),
        "command": command,
        "machine": machine,
        "ortools": _ortools(),
        "seconds": f"{seconds:g}",
    }


def _ortools() -> str:
    try:
        return version("ortools")
    except PackageNotFoundError:
        return "(not installed)"
