"""Names that a message shows, and the one that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from usmp_build.errors import one_line

_SHOWN = 60
"""Characters of a name that a message repeats."""
_LISTED = 12
"""Names that a message lists."""
_MOST = 20
"""Names that it lists for somebody who must choose one."""


def plain(name: object, longest: int = _SHOWN) -> str:
    """Show a name or a value on one line, and not endlessly long."""
    text = one_line(str(name))
    return text if len(text) <= longest else text[: longest - 1] + "…"


def quoted(name: object) -> str:
    """The same in quotes."""
    return f'"{plain(name)}"'


def listed(names: Iterable[str], most: int = _LISTED) -> str:
    """Show names one after the other, and not endlessly many."""
    some = list(names)
    return ", ".join([plain(name) for name in some[:most]] + ["…"] * (len(some) > most))


def suggestion(name: str, known: Iterable[str], what: str) -> str:
    """Say which known name was probably meant, and what the known ones are.

    >>> suggestion("srma", ["sram", "dtcm"], "defined pools")
    'did you mean "sram"? Defined pools: sram, dtcm'
    """
    names = list(known)
    every, close = listed(names, _MOST) or "none", closest(name, names)
    if not close:
        return f"{what}: {every}"
    return f"did you mean {quoted(close)}? {what[0].upper()}{what[1:]}: {every}"


def closest(name: str, known: Sequence[str]) -> str:
    """Return the known name that `name` is probably a slip of, or nothing.  Letter case counts for little."""
    if name in known:
        return ""
    lower = {other.lower(): other for other in known[:200]}
    found = difflib.get_close_matches(name.lower()[:_SHOWN], lower, n=1)
    return lower[found[0]] if found else ""
