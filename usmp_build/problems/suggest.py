"""Names that a message shows, and the one that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from usmp_build.errors import printable

_SHOWN = 60
"""Characters of a name that a message repeats."""
_LISTED = 12
"""Names that a message lists."""


def quoted(name: object) -> str:
    """Show a name in quotes, on one line, and not endlessly long."""
    text = printable(str(name)).replace("\n", "\\n")
    return f'"{text}"' if len(text) <= _SHOWN else f'"{text[: _SHOWN - 1]}…"'


def listed(names: Iterable[str]) -> str:
    """Show names one after the other, and not endlessly many."""
    some = list(names)
    return ", ".join([quoted(name)[1:-1] for name in some[:_LISTED]] + ["…"] * (len(some) > _LISTED))


def suggestion(name: str, known: Iterable[str], what: str) -> str:
    """Say which known name was probably meant, and what the known ones are."""
    names = list(known)
    close = closest(name, names)
    return f"did you mean {quoted(close)}?" if close else f"{what}: {listed(names) or 'none'}"


def closest(name: str, known: Sequence[str]) -> str:
    """Return the known name that `name` is probably a slip of, or nothing."""
    return next(iter(difflib.get_close_matches(name[:64], known[:200], 1)), "")
