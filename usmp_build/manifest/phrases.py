"""The turns of phrase that messages about the manifest share."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence

from usmp_build.errors import printable

_LONGEST = 60
"""Characters of a name that a message repeats."""
_MOST = 20
"""Names that a message lists."""


def plain(name: object, longest: int = _LONGEST) -> str:
    """Show a name or a value on one line, and not endlessly long."""
    text = printable(str(name)).replace("\n", "\\n")
    return text if len(text) <= longest else text[: longest - 1] + "…"


def quoted(name: object) -> str:
    """The same in quotes."""
    return f'"{plain(name)}"'


def described(value: object) -> str:
    """Say what a value of a TOML document is, as it ends a sentence: "must be a size, not ..."."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (bool, int, float)):
        return plain(value).lower()
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a table"
    return "a date or time"


def suggestion(name: str, known: Iterable[str], what: str) -> str:
    """Say which known name was probably meant, and what the known ones are.

    >>> suggestion("srma", ["sram", "dtcm"], "defined pools")
    'did you mean "sram"? Defined pools: sram, dtcm'
    """
    names = list(known)
    listed = ", ".join([plain(name) for name in names[:_MOST]] + ["…"] * (len(names) > _MOST))
    close = closest(name, names)
    if not close:
        return f"{what}: {listed}"
    return f"did you mean {quoted(close)}? {what[0].upper()}{what[1:]}: {listed}"


def closest(name: str, known: Sequence[str]) -> str:
    """Return the known name that `name` is probably a slip of, or nothing.  Letter case counts for little."""
    lower = {other.lower(): other for other in known[:200]}
    found = difflib.get_close_matches(name.lower()[:_LONGEST], lower, n=1)
    return lower[found[0]] if found else ""


def toml(value: object) -> str:
    """Write a value as TOML, on one line.

    >>> toml({"a b": [1, True, "x"]})
    '{ "a b" = [1, true, "x"] }'
    """
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(str(key))} = {toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
        return text.encode("utf-8", "replace").decode()  # a name may hold half a character
    return str(value)


def _key(name: str) -> str:
    """A key of an inline table; quoted always where it holds anything but letters and digits."""
    return name if name.isascii() and name.replace("_", "").isalnum() else toml(name)
