"""Packages of others, as tests install them: by pip, from source, into a folder of their own, without any network."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.cli import Done, call_apart


@dataclass(frozen=True)
class Installed:
    """A folder with packages beside ours."""

    folder: Path

    def call(self, *arguments: object) -> Done:
        """Run a verb in a process that sees them."""
        return call_apart(*arguments, env={"PYTHONPATH": os.pathsep.join((str(ROOT), str(self.folder)))})


def install(source: Path, to: Path) -> Installed:
    """Install a package whose backend is flit_core; skip the test where that is missing."""
    for tool in ("flit_core", "pip"):
        pytest.importorskip(tool, reason=f'{tool} is not installed; flit_core comes with the extra "test"')
    options = (
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
        "--disable-pip-version-check",
        "--no-compile",
    )
    command = [sys.executable, "-m", "pip", "install", *options, "--target", to, source]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return Installed(to)
