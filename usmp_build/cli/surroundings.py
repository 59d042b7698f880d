"""Checks the environment of this package: required packages, and installation in a folder on disk."""

from __future__ import annotations

import sys
from pathlib import Path

import usmp_build
from usmp_build.errors import Diagnostic, UsageError

_PACKAGE = Path(usmp_build.__file__).resolve().parent
_COMPLETER = "argcomplete"
"""The only package that this process may want and the wheel does not require."""


def check_folder() -> None:
    """Raise UsageError in an archive: templates and kernels are read as files."""
    if not _PACKAGE.is_dir():
        message = f"{_PACKAGE} is in an archive, and cannot run from there"
        raise UsageError(Diagnostic("U243", message, help="unpack it into a folder, or install it with pip"))


def package_missing(error: Exception) -> Diagnostic | None:
    """Return how to install a missing package; None if it is a part of this one, or nothing is missing."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if name in ("", "usmp_build"):
        return None
    lock = _PACKAGE.parent / "bazel" / "requirements.lock"
    what = f'--require-hashes -r "{lock}"' if lock.is_file() else "usmp_build"
    what = name if name == _COMPLETER else what
    message = f'the Python package "{name}" is missing, which usmp_build needs'
    return Diagnostic("U244", message, help=f'run: "{sys.executable}" -m pip install {what}')
