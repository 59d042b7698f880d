"""The compiled core, where there is one: the same search as in Python, about a hundred times faster."""

from __future__ import annotations

from functools import cache
from typing import Any

import usmp_build


def core() -> Any | None:
    """Return the extension module `_usmp_build_core`; None where Python searches in its place."""
    return _found()[0]


def core_note() -> str:
    """Return who searches, the core or Python, and if Python, why: half a sentence for people."""
    return _found()[1]


@cache
def _found() -> tuple[Any | None, str]:
    try:
        import _usmp_build_core as found
    except ModuleNotFoundError:
        return None, "was not built; Python searches, more slowly"
    except ImportError as error:
        reason = " ".join(str(error).split())
        return None, f"cannot be loaded; Python searches, more slowly ({reason})"
    version = getattr(found, "__version__", "unknown")
    if version != usmp_build.__version__:
        return None, f"is of another version, {version}; Python searches, more slowly"
    return found, "searches"
