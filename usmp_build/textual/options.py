"""Reads and writes the options of operators in the textual form, generically by the fields of their dataclasses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from usmp_build.ir.options import Options
from usmp_build.operators.table import OPERATORS, options_class
from usmp_build.textual.lines import Line
from usmp_build.textual.values import quote, spell_runs

_CLASSES = {kind.options.options.__name__: kind.options.options for kind in OPERATORS.values() if kind.options}


def spell_options(kind: str, options: Options | None) -> Iterator[str]:
    """Yield `name=value` for all fields that are not at their defaults.

    `options=` comes first where the class, or that there is none, does not follow from the kind of operator.
    """
    if type(options) is not (options_class(kind) or type(None)):
        yield f"options={'none' if options is None else type(options).__name__}"
    for field in fields(options) if options is not None else ():
        value = getattr(options, field.name)
        if value != field.default:
            yield f"{field.name}={_spell(value)}"


def read_options(kind: str, line: Line) -> Options | None:
    """Read what `spell_options` wrote for an operator of this kind."""
    options = options_class(kind)
    if line.peek().text == "options":
        options = _read_class(line)
    types_by_name = get_type_hints(options) if options else {}
    values: dict[str, Any] = {}
    while line.peek().kind == "word":
        name = line.take("word", "the name of an option")
        if name.text not in types_by_name:
            raise line.unknown("option", name, types_by_name)
        if name.text in values:
            raise line.error("T307", f"`{name.text}` is given twice", "keep one of them", name)
        line.expect("=")
        values[name.text] = _read(line, types_by_name[name.text])
    return options(**values) if options else None


def _read_class(line: Line) -> type[Options] | None:
    line.expect("options")
    line.expect("=")
    name = line.take("word", "the name of a class of options")
    if name.text == "none":
        return None
    if name.text not in _CLASSES:
        raise line.unknown("class of options", name, ["none", *_CLASSES])
    return _CLASSES[name.text]


def _spell(value: object) -> str:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, tuple):
        return spell_runs(map(_spell, value))
    if isinstance(value, str):
        return quote(value)
    return repr(value).lower()  # true, false, or a number


def _read(line: Line, wanted: Any) -> Any:
    """Read a value of the declared type of a dataclass field; None is never spelled."""
    if get_origin(wanted) is UnionType:
        wanted = next(kind for kind in get_args(wanted) if kind is not NoneType)
    if get_origin(wanted) is tuple:
        return tuple(line.items(lambda: _read(line, get_args(wanted)[0])))
    if wanted is str:
        return line.string("a string")
    if wanted is int:
        return line.integer("an integer")
    if wanted is float:
        return float(line.take("number", "a number").text)
    words = {"true": True, "false": False} if wanted is bool else wanted.__members__
    word = line.take("word", f"one of {', '.join(words)}")
    if word.text not in words:
        raise line.unknown("value", word, words)
    return words[word.text]
