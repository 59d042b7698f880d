"""Load the compiled core, if it is installed: the same search as in Python, about a hundred times faster."""

from __future__ import annotations

from functools import cache
from typing import Any

import usmp_build

LARGEST = 1 << 50
"""The core counts in 64 bits, and some of it multiplies by up to 1024: larger sums are left to Python."""

MOST_PAIRS = 400_000
"""Distances that are handed to the core one by one; lists of more take hundreds of megabytes on their way."""


def core() -> Any | None:
    """Return the extension module `_usmp_build_core`; None where the search runs in Python."""
    return _load()[0]


def core_note() -> str:
    """Return whether the core or Python searches, and why, for messages: the end of a sentence."""
    return _load()[1]


@cache
def _load() -> tuple[Any | None, str]:
    try:
        import _usmp_build_core as module
    except ModuleNotFoundError:
        return None, "was not built; Python searches, more slowly"
    except ImportError as error:
        reason = " ".join(str(error).split())
        return None, f"cannot be loaded; Python searches, more slowly ({reason})"
    version = getattr(module, "__version__", "unknown")
    if version != usmp_build.__version__:
        return None, f"is of another version, {version}; Python searches, more slowly"
    return module, "searches"
