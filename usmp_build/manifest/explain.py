"""Turns pydantic's errors into diagnostics, by comparing the document with the keys of `model`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from usmp_build.document.suggest import closest, plain, quoted, suggestion
from usmp_build.document.value_errors import ValueFault, value_faults, wanted
from usmp_build.errors import Diagnostic
from usmp_build.manifest.locate import Path, Places
from usmp_build.manifest.model import TABLES, Manifest
from usmp_build.manifest.phrases import described, toml
from usmp_build.manifest.table import LEFT_OUT, Table

Unsupported: TypeAlias = Callable[[Path], Collection[object]]
"""Returns the values of the key at a path that have no effect yet, and so are not suggested."""


def explain(error: ValidationError, places: Places, unsupported: Unsupported) -> list[Diagnostic]:
    """Return a diagnostic for every error."""
    faults = value_faults(error.errors(include_url=False), places.path, _keys_at)
    return [_EXPLAIN.get(fault.kind, _wrong)(fault, places, unsupported) for fault in faults]


def _keys_at(path: Path) -> list[str]:
    table = table_at(path)
    return list(fields_of(table)) if table else []


def _subject(fault: ValueFault) -> str:
    """Return what the value is, as the beginning of a sentence."""
    if not fault.path or isinstance(fault.path[-1], str):
        return quoted(fault.name)
    return f"{'a list in' if isinstance(fault.value, list) else 'an element of'} {quoted(fault.name)}"


def shown(path: Path) -> str:
    """Write the path of a table as TOML does.

    >>> shown(("models", "kws", "place", 0)), shown(("plan",)), shown(())
    ('[[models.kws.place]]', '[plan]', 'the manifest')
    """
    if not path:
        return "the manifest"
    names = ".".join(plain(part) for part in path if isinstance(part, str))
    return f"[[{names}]]" if isinstance(path[-1], int) else f"[{names}]"


def fields_of(table: type[Table]) -> dict[str, FieldInfo]:
    """Return the fields of a table by their keys in the manifest."""
    return {field.alias or name: field for name, field in table.model_fields.items()}


def table_at(path: Path) -> type[Table] | None:
    """Return the table that is at a path."""
    return next((table for table in TABLES if matches(path, table.pattern)), None)


def matches(path: Path, pattern: tuple[str, ...]) -> bool:
    """Return whether a path matches a pattern, in which "*" stands for any part."""
    return len(path) == len(pattern) and all(theirs in ("*", ours) for ours, theirs in zip(path, pattern, strict=True))


def _field_at(path: Path) -> tuple[Path, FieldInfo] | None:
    """Return the path of the key that a path goes to or through, and its declaration."""
    for length in range(len(path) - 1, -1, -1):
        table, key = table_at(path[:length]), path[length]
        if table and key in fields_of(table):
            return path[: length + 1], fields_of(table)[str(key)]
    return None


def _example(path: Path) -> str:
    """Return a help line that shows how to write the value at a path."""
    heading = next((table.heading for table in TABLES if matches(path, table.pattern[: len(path)])), "")
    if heading and path:
        return f"write it as a table: {heading}"
    key_and_field = _field_at(path)
    if not key_and_field:
        return "remove it"
    (*_, key), field = key_and_field
    example, inside = (field.examples or [""])[0], path[len(key_and_field[0]) :]
    if inside and isinstance(example, dict):
        example = {str(inside[0]): value for value in example.values()}
    return f"write for example: {key} = {toml(example)}"


def _missing(fault: ValueFault, places: Places, _: Unsupported) -> Diagnostic:
    key, table = fault.name, shown(fault.path)
    key_and_field = _field_at((*fault.path, key))
    example = (key_and_field[1].examples or [""])[0] if key_and_field else ""
    place = places.value(*fault.path)
    if isinstance(example, dict):
        inside = ", ".join(f"{name} = {toml(value)}" for name, value in example.items())
        heading = f"[{plain(key)}]"
        return Diagnostic("M106", f"there is no {heading}", place, f"add {heading}, for example with: {inside}")
    return Diagnostic("M106", f"{table} has no {quoted(key)}", place, f"add for example: {key} = {toml(example)}")


def _unknown(fault: ValueFault, places: Places, _: Unsupported) -> Diagnostic:
    *above, key = fault.path
    table = table_at(tuple(above))
    keys = fields_of(table) if table else {}
    help_ = _elsewhere(str(key)) or _nested(above, str(key), fault.value)
    help_ += suggestion(str(key), keys, f"keys of {shown(tuple(above))}")
    return Diagnostic("M105", f"unknown key {quoted(key)} in {shown(tuple(above))}", places.key(*fault.path), help_)


def _elsewhere(key: str) -> str:
    """Return which tables have a key that this one does not have, as a clause; empty if none has it."""
    if key in fields_of(Manifest) and (key,) not in {table.pattern[:1] for table in TABLES}:
        return f"`{key}` is a key of the manifest itself: move the line to its top, above all tables in brackets; "
    headings = [table.heading for table in TABLES if table.pattern and key in fields_of(table)]
    return f"it is a key of {' and of '.join(headings)}; " if headings else ""


def _nested(above: Sequence[str | int], key: str, value: object) -> str:
    """Say what a dot in a heading does, as a clause: [models.kws.v2] may stand for a model called "kws.v2"."""
    table = table_at(tuple(above))
    if not isinstance(value, dict) or not table or table.pattern[-1:] != ("*",) or closest(key, [*fields_of(table)]):
        return ""
    kind, name = map(str, above[-2:])
    return (
        f"a dot begins a table inside another, and is not part of a name: write [{kind}.{plain(name)}_{plain(key)}]; "
    )


def _refused(fault: ValueFault, places: Places, _: Unsupported) -> Diagnostic:
    """Return the diagnostic of a check of ours, see `kinds.refused`."""
    context, path = fault.context, fault.path
    if context["at"] is not None:
        path = (*path, context["at"])
    message = context["message"].replace("{key}", fault.name)
    return Diagnostic(
        context["code"], message, places.key(*path) if fault.about_key else places.value(*path), context["help"]
    )


def _choice(fault: ValueFault, places: Places, unsupported: Unsupported) -> Diagnostic:
    expected = fault.context["expected"].replace("'", '"')
    choices = [choice for choice in re.split(", | or ", expected) if choice not in map(toml, unsupported(fault.path))]
    wanted = " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
    message = f"{_subject(fault)} must be {wanted}, not {described(fault.value)}"
    close = closest(str(fault.value), [choice.strip('"') for choice in choices])
    key_and_field = _field_at(fault.path)
    meaning = key_and_field[1].description or "" if key_and_field else ""
    help_ = f"did you mean {quoted(close)}? {meaning}".rstrip() if close else meaning
    return Diagnostic("M108", message, places.value(*fault.path), help_ or _example(fault.path))


def _length(fault: ValueFault, places: Places, _: Unsupported) -> Diagnostic:
    key, count = _subject(fault), fault.context["actual_length"]
    least, most = fault.context.get("min_length"), fault.context.get("max_length")
    wanted = f"at least {least}" if least is not None else f"at most {most}"
    message = f"{key} is an empty list" if count == 0 else f"{key} takes {wanted} elements, not {count}"
    key_and_field = _field_at(fault.path)
    extra = key_and_field[1].json_schema_extra if key_and_field else None
    without = extra.get(LEFT_OUT) if isinstance(extra, dict) and count == 0 else None
    help_ = f"without {key}, it is {without}" if without else _example(fault.path)
    return Diagnostic("M113", message, places.value(*fault.path), help_)


def _limit(fault: ValueFault, places: Places, _: Unsupported) -> Diagnostic:
    least, most = fault.context.get("ge"), fault.context.get("le")
    wanted = f"at least {least}" if least is not None else f"at most {most:,}"
    message = f"{_subject(fault)} must be {wanted}, not {described(fault.value)}"
    key_and_field = _field_at(fault.path)
    help_ = (key_and_field[1].description if key_and_field else "") or _example(fault.path)
    return Diagnostic("M111", message, places.value(*fault.path), help_)


def _wrong(fault: ValueFault, places: Places, _: Unsupported) -> Diagnostic:
    """Return the diagnostic of a value of the wrong type, or of an error that only a later pydantic knows."""
    needed = wanted(fault.kind, "a table")
    message = f"must be {needed}, not {described(fault.value)}" if needed else f"is wrong: {fault.message}"
    place = places.value(*fault.path)
    return Diagnostic("M107", f"{_subject(fault)} {message}", place, _example(fault.path))


_EXPLAIN = {
    "missing": _missing,
    "extra_forbidden": _unknown,
    "refused": _refused,
    "literal_error": _choice,
    "too_short": _length,
    "too_long": _length,
    "greater_than_equal": _limit,
    "less_than_equal": _limit,
}
