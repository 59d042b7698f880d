"""JSON that nobody would write: as somebody did, but for a value somewhere."""

from random import Random
from typing import Any

WORDS = ["op", "alloc", "alloc_const", "for", "store", "call", "attr", "body", "var", "main", "x", "n", "int8", "", "ß"]
VALUES = [None, True, 0, -1, 1 << 70, 1.5, "9" * 50, "\ud800\x1b[2J", [], {}, [None], *WORDS]
_NOTHING = object()
_HERE = 0.15
"""How often it is a whole object or list that is replaced, and not something in it."""


def spoiled(value: Any, draw: Random) -> Any:
    """Return a value with something in it left out, or replaced by something odd."""
    return replaced(value, draw, _NOTHING if draw.random() < 0.3 else draw.choice(VALUES))


def replaced(value: Any, draw: Random, new: Any) -> Any:
    """Return a value with something in it replaced."""
    is_object = isinstance(value, dict)
    items = dict(value if is_object else enumerate(value))
    if not items:
        return value
    chosen = draw.choice([*items])
    inner = items[chosen]
    is_whole = not inner or not isinstance(inner, dict | list) or draw.random() < _HERE
    items[chosen] = new if is_whole else replaced(inner, draw, new)
    if items[chosen] is _NOTHING:
        del items[chosen]
    return items if is_object else [*items.values()]
