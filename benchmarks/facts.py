"""How the figures of models were made: the facts of their page."""

from __future__ import annotations

import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version

from benchmarks import cortex, host
from benchmarks.published import VERSIONS
from benchmarks.tools import version as program_version
from usmp_build import __version__


def facts(command: str, machine: str, runs: int, notes: str) -> dict[str, str]:
    """Return them by the names that the page uses; `notes` say what was not measured, and why."""
    return {
        "date": date.today().isoformat(),
        "command": command,
        "machine": machine,
        "versions": _versions(),
        "published": VERSIONS,
        "compiler": host.COMPILER,
        "runs": str(runs),
        "missing": f"\n## Missing\n\n{notes}\n" if notes else "",
    }


def _versions() -> str:
    programs = (host.COMPILER, cortex.COMPILER, "qemu-system-arm")
    said = [program_version(name, "--version") for name in programs]
    said += [
        f"tflite-micro {_package('tflite-micro')}",
        f"LiteRT, ai-edge-litert {_package('ai-edge-litert')}",
        f"Python {platform.python_version()}",
        f"usmp_build {__version__}",
    ]
    return "\n".join(f"- {line}" for line in said)


def _package(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "is not installed"
