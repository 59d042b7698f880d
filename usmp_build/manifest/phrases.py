"""Phrases shared by messages about the manifest."""

from __future__ import annotations

import json

from usmp_build.document.suggest import plain, quoted


class Hexadecimal(int):
    """An address: people write it in hexadecimal."""

    def __str__(self) -> str:
        return f"0x{self:X}"


def described(value: object) -> str:
    """Return what a value of a TOML document is, as the end of a sentence: "must be a size, not ..."."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (bool, int, float)):
        return plain(value).lower()
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a table"
    return "a date or time"


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
    """Return a key of an inline table, in quotes if it has anything but letters, digits and underscores."""
    return name if name.isascii() and name.replace("_", "").isalnum() else toml(name)
