"""Where the files beside the code are: in an installed package, or in the source tree."""

from __future__ import annotations

from pathlib import Path

import usmp_build
from usmp_build.errors import Diagnostic, UsageError

_PACKAGE = Path(usmp_build.__file__).resolve().parent
_CHECKER = ("__init__", "model", "definitions", "plan", "jobs", "replay", "main")
"""The files of the checker, each after those that it imports."""


def cmake_dir() -> Path:
    """Return the folder that holds usmp_buildConfig.cmake."""
    installed = _PACKAGE / "cmake"
    return installed if installed.is_dir() else _PACKAGE.parent / "cmake"


def bazel_dir() -> Path:
    """Return the folder that is a Bazel repository: MODULE.bazel, WORKSPACE and the rules in bazel/ below it."""
    return _PACKAGE if (_PACKAGE / "bazel").is_dir() else _PACKAGE.parent


def checker() -> str:
    """Return the program that checks a plan against model files and shares nothing with this package.

    It is one text, for one file that runs by itself: its files, one after the other, but for imports from each other.
    """
    installed = _PACKAGE / "checker"
    folder = installed if installed.is_dir() else _PACKAGE.parent / "checker"
    text = "\n\n".join((folder / f"{name}.py").read_text(encoding="utf-8") for name in _CHECKER)
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("from checker."))


def explanations() -> Path:
    """Return the folder of the pages that explain error codes."""
    installed = _PACKAGE / "docs" / "errors"
    return installed if installed.is_dir() else _PACKAGE.parent / "docs" / "errors"


def example(name: str) -> Path:
    """Return the folder of an example.  Raises UsageError when this installation carries none."""
    for root in (_PACKAGE / "share", _PACKAGE.parent):
        folder = root / "examples" / name
        if folder.is_dir():
            return folder
    raise UsageError(Diagnostic("U207", f'this installation has no example "{name}"', help="use the source tree"))
