"""Packages of others, as tests install them: by pip, from source, into a folder of their own, without any network."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.cli import call_apart
from tests.support.processes import Done, output
from tests.support.tools import need_packages
from tests.support.tree import ROOT


@dataclass(frozen=True)
class Installed:
    """A folder with packages beside ours."""

    folder: Path

    def call(self, *arguments: object) -> Done:
        """Run a verb in a process that sees them."""
        return call_apart(*arguments, env={"PYTHONPATH": os.pathsep.join((str(ROOT), str(self.folder)))})


def install(source: Path, to: Path) -> Installed:
    """Install a package whose backend is flit_core; skip the test where that is missing."""
    need_packages("flit_core", "pip")
    options = (
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
        "--disable-pip-version-check",
        "--no-compile",
    )
    output([sys.executable, "-m", "pip", "install", *options, "--target", to, source])
    return Installed(to)


def stand_in(interpreter: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Python find an interpreter in place of LiteRT's, whether or not that is installed."""
    (folder / "ai_edge_litert").mkdir()
    (folder / "ai_edge_litert" / "__init__.py").touch()
    (folder / "ai_edge_litert" / "interpreter.py").write_text(interpreter, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
