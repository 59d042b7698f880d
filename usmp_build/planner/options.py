"""Options of algorithms: the fields of their dataclasses, filled from `[plan.options]` of the manifest.

A field is annotated with types that TOML has: bool, int, float, str, `Literal` of such values, `tuple` for a list,
`dict` for a table, and unions of these.  None among them is for an option that is left out.  A field with another
annotation has the type of its default; if that is None or missing, it takes any value.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from usmp_build.frozen import frozen

_WORDS: dict[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple: "a list",
    dict: "a table",
    type(None): "left out",
}
"""Types that TOML has, and their names in messages."""


@frozen
class Option:
    """A field of an algorithm."""

    default: object
    """`dataclasses.MISSING` when there is none."""
    kinds: tuple[object, ...]
    """The types or values that it may have; empty: any."""

    def fitted(self, value: object) -> object:
        """Return the value as the type of the field.  Raises TypeError, whose text names the types that are allowed."""
        if not self.kinds or type(value) in self.kinds or any(_same(kind, value) for kind in self.kinds):
            return value
        if type(value) is int and float in self.kinds:
            return float(value)
        if type(value) is list and tuple in self.kinds:
            return tuple(value)
        raise TypeError(" or ".join(_in_words(kind) for kind in self.kinds if kind is not type(None)))


def _same(literal: object, value: object) -> bool:
    """Whether two values and their types are equal: 1, 1.0 and true are three values."""
    return type(literal) is type(value) and literal == value


def _in_words(kind: Any) -> str:
    return _WORDS.get(kind) or (f'"{kind}"' if isinstance(kind, str) else repr(kind))


def options_of(algorithm: object) -> dict[str, Option]:
    """Return the options of an algorithm by name; empty if it is not a dataclass."""
    if not isinstance(algorithm, type) or not is_dataclass(algorithm):
        return {}
    try:
        hints = get_type_hints(algorithm)
    except (NameError, TypeError):  # annotated with names that only a type checker sees
        hints = {}
    return {
        field.name: Option(field.default, _kinds(hints.get(field.name)) or _kinds_of_default(field.default))
        for field in fields(algorithm)
        if field.init
        if field.init
    }


def _kinds_of_default(default: object) -> tuple[object, ...]:
    return () if default is None else _kinds(type(default))


def _kinds(hint: Any) -> tuple[object, ...]:
    """Return the types and values that an annotation allows; empty when TOML does not have one of them."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        parts = [_kinds(part) for part in get_args(hint)]
        return tuple(kind for part in parts for kind in part) if all(parts) else ()
    if origin is Literal:
        return get_args(hint)
    kind = origin if origin in (tuple, dict) else hint
    return (kind,) if kind in _WORDS else ()
