"""List algorithms, importers, kernel libraries and emitters, and which package brings each."""

from __future__ import annotations

import argparse

from usmp_build import plugins as registry
from usmp_build.cli.table import columns
from usmp_build.planner import by_name
from usmp_build.providers import providers

_GROUPS = {
    "algorithms": by_name.ALGORITHMS,
    "emitters": registry.EMITTERS,
    "importers": registry.IMPORTERS,
    "kernels": registry.KERNELS,
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    del parser  # it has none


def run(_: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    rows = [
        (group, provider.name, provider.distribution or "usmp_build")
        for group, builtin in _GROUPS.items()
        for provider in providers(group, builtin).values()
    ]
    print("\n".join(columns(("group", "name", "from"), rows, "<<<")))
    return 0
