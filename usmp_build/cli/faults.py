"""Turns unexpected exceptions into errors: faults of ours, of a plug-in, or of the machine."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from traceback import extract_tb, walk_tb

import usmp_build
from usmp_build.errors import CheckFailed, Diagnostic, InternalFault, UsmpError
from usmp_build.providers import installed

_PACKAGE = "usmp_build"


def as_error(error: Exception) -> UsmpError:
    """Return the error for an unexpected exception: whose fault it is, and what to do about it."""
    if isinstance(error, OSError):
        what = f"{error.strerror or type(error).__name__}{f': {error.filename}' if error.filename else ''}"
        return UsmpError(Diagnostic("U262", f"the system reports: {what}", help="--debug shows where"))
    if isinstance(error, MemoryError):
        message = f"out of memory ({_place(error)})"
        return InternalFault(Diagnostic("U261", message, help="make room, or plan fewer models at a time"))
    if package := _plugin(error):
        message = f"a plug-in of {package} failed: {_said(error)} ({_innermost(error)})"
        return CheckFailed(Diagnostic("P407", message, help="report this to its author, or remove it"))
    version = f"{_PACKAGE} {usmp_build.__version__}, Python {platform.python_version()}, {platform.platform()}"
    message = f"internal error: {_said(error)} ({_place(error)}); this is a bug in usmp_build, not a mistake of yours"
    help_ = f"please report this message, the manifest, its model files and {version}; --debug shows the traceback"
    return InternalFault(Diagnostic("U260", message, help=help_))


def _said(error: Exception) -> str:
    first = str(error).strip().partition("\n")[0]
    return type(error).__name__ + (f": {first}" if first else "")


def _frames(error: Exception) -> Iterator[tuple[str, int]]:
    """Yield module and line of each call, the outermost first."""
    for frame, line in walk_tb(error.__traceback__):
        yield str(frame.f_globals.get("__name__", "")), line


def _place(error: Exception) -> str:
    """Return the innermost place in our code."""
    ours = [(module, line) for module, line in _frames(error) if _top(module) == _PACKAGE]
    return "{}, line {}".format(*ours[-1]) if ours else _innermost(error)


def _innermost(error: Exception) -> str:
    frame = extract_tb(error.__traceback__)[-1]
    return f"{frame.name}, line {frame.lineno}"


def _plugin(error: Exception) -> str:
    """Return the package whose plug-in raised the exception; empty when none was running."""
    packages = {_top(entry.module): entry.dist for entry in installed()}
    for module, _ in _frames(error):
        package = packages.get(_top(module))
        if package and _top(module) != _PACKAGE:
            return f"{package.name} {package.version}"
    return ""


def _top(module: str) -> str:
    return module.partition(".")[0]
