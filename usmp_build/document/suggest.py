"""Shows names in messages, and suggests the one that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from usmp_build.errors import one_line

_SHOWN = 60
"""Most characters of a name that a message shows."""
_LISTED = 12
"""Most names that a message lists."""
_MOST = 20
"""Most names that it lists to choose from."""


def plain(name: object, longest: int = _SHOWN) -> str:
    """Return a name or a value on one line, shortened to `longest` characters."""
    text = one_line(str(name))
    return text if len(text) <= longest else text[: longest - 1] + "…"


def quoted(name: object) -> str:
    """Return a name or a value on one line, shortened, in quotes."""
    return f'"{plain(name)}"'


def listed(names: Iterable[str], most: int = _LISTED) -> str:
    """Return names separated by commas, `most` at most."""
    all_names = list(names)
    return ", ".join([plain(name) for name in all_names[:most]] + ["…"] * (len(all_names) > most))


def suggestion(name: str, candidates: Iterable[str], what: str) -> str:
    """Return which known name was probably meant, and which are known, as a help text.

    >>> suggestion("srma", ["sram", "dtcm"], "defined pools")
    'did you mean "sram"? Defined pools: sram, dtcm'
    """
    names = list(candidates)
    every, close = listed(names, _MOST) or "none", closest(name, names)
    if not close:
        return f"{what}: {every}"
    return f"did you mean {quoted(close)}? {what[0].upper()}{what[1:]}: {every}"


def closest(name: str, candidates: Sequence[str]) -> str:
    """Return the known name that `name` probably means, or an empty string.  Letter case counts for little."""
    if name in candidates:
        return ""
    lower = {other.lower(): other for other in candidates[:200]}
    matches = difflib.get_close_matches(name.lower()[:_SHOWN], lower, n=1)
    return lower[matches[0]] if matches else ""
