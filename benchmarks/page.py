"""The page docs/benchmarks.md: the tables, how they were made, and what they do not say."""

from __future__ import annotations

import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from string import Template

from benchmarks import cortex, host
from benchmarks.published import VERSIONS
from benchmarks.tools import version as program_version
from usmp_build import __version__

_TEMPLATE = Path(__file__).with_name("page.md.in")


def page(parts: dict[str, str], command: str, machine: str, runs: int) -> str:
    """Return the whole page; `parts` are those of tables.parts()."""
    facts = {
        "date": date.today().isoformat(),
        "command": command,
        "machine": machine,
        "versions": _versions(),
        "published": VERSIONS,
        "compiler": host.COMPILER,
        "runs": str(runs),
        "missing": f"\n## Missing\n\n{parts['notes']}\n" if parts["notes"] else "",
    }
    return Template(_TEMPLATE.read_text("utf-8")).substitute(facts, **parts).rstrip() + "\n"


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
