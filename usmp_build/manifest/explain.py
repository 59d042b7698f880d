"""From pydantic's errors to diagnostics: what the document says is compared with the words of `model`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from usmp_build.document.suggest import closest, plain, quoted, suggestion
from usmp_build.errors import Diagnostic
from usmp_build.manifest.locate import Path, Places
from usmp_build.manifest.model import TABLES, Manifest
from usmp_build.manifest.phrases import described, toml
from usmp_build.manifest.table import LEFT_OUT, Table

_WANTED = {
    "string_type": "text in quotes",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
}


class _Problem(NamedTuple):
    kind: str
    """Pydantic's name for it."""
    path: Path
    """Of the value, as far as the document has it."""
    key: str
    """The last of the path, without positions in lists."""
    value: object
    context: Mapping[str, Any]
    message: str
    """Pydantic's."""
    unsupported: Collection[object]
    """Values that might be there, but have no effect yet."""

    @property
    def subject(self) -> str:
        """What the value is, as a sentence begins."""
        if not self.path or isinstance(self.path[-1], str):
            return quoted(self.key)
        return f"{'a list in' if isinstance(self.value, list) else 'an element of'} {quoted(self.key)}"


def explain(
    error: ValidationError, places: Places, unsupported: Callable[[Path], Collection[object]]
) -> list[Diagnostic]:
    """Make a diagnostic of every error; `unsupported` values of the word at a path are offered to nobody."""
    details = error.errors(include_url=False)
    problems = [(_problem(dict(detail), places, unsupported), detail["loc"][-1] == "[key]") for detail in details]
    slips = {(problem.path[:-1], _meant(problem.path)) for problem, _ in problems if problem.kind == "extra_forbidden"}
    lists = {problem.path[:-1] for problem, _ in problems if problem.path and isinstance(problem.path[-1], int)}
    return [
        _EXPLAIN.get(problem.kind, _wrong)(problem, places, about_key)
        for problem, about_key in problems
        # A slip in a key makes it an unknown one and a missing one, and a wrong element makes a list shorter: saying
        # the first is enough.
        if (problem.kind != "missing" or (problem.path, problem.key) not in slips)
        and (problem.kind != "too_short" or problem.path not in lists)
    ]


def _problem(detail: dict[str, Any], places: Places, unsupported: Callable[[Path], Collection[object]]) -> _Problem:
    path = places.path(detail["loc"])
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    if detail["type"] == "missing":
        key = str(detail["loc"][-1])
    context = detail.get("ctx", {})
    return _Problem(detail["type"], path, key, detail["input"], context, detail["msg"], unsupported(path))


def _meant(path: Path) -> str:
    """The key that an unknown key is a slip of."""
    table = table_at(path[:-1])
    return closest(str(path[-1]), list(fields_of(table))) if table else ""


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
    """Tell whether a path is one of those that a pattern means."""
    return len(path) == len(pattern) and all(theirs in ("*", ours) for ours, theirs in zip(path, pattern, strict=True))


def _field_at(path: Path) -> tuple[Path, FieldInfo] | None:
    """The path of the key that a path goes to or through, and its declaration."""
    for length in range(len(path) - 1, -1, -1):
        table, key = table_at(path[:length]), path[length]
        if table and key in fields_of(table):
            return path[: length + 1], fields_of(table)[str(key)]
    return None


def _example(path: Path) -> str:
    """A help line that shows how to write the value at a path."""
    heading = next((table.heading for table in TABLES if matches(path, table.pattern[: len(path)])), "")
    if heading and path:
        return f"write it as a table: {heading}"
    found = _field_at(path)
    if not found:
        return "remove it"
    (*_, key), field = found
    example, inside = (field.examples or [""])[0], path[len(found[0]) :]
    if inside and isinstance(example, dict):
        example = {str(inside[0]): value for value in example.values()}
    return f"write for example: {key} = {toml(example)}"


def _missing(problem: _Problem, places: Places, _: bool) -> Diagnostic:
    key, table = problem.key, shown(problem.path)
    found = _field_at((*problem.path, key))
    example = (found[1].examples or [""])[0] if found else ""
    place = places.value(*problem.path)
    if isinstance(example, dict):
        inside = ", ".join(f"{name} = {toml(value)}" for name, value in example.items())
        return Diagnostic("M106", f"there is no [{plain(key)}]", place, f"add it, and in it for example: {inside}")
    return Diagnostic("M106", f"{table} has no {quoted(key)}", place, f"add for example: {key} = {toml(example)}")


def _unknown(problem: _Problem, places: Places, _: bool) -> Diagnostic:
    *above, key = problem.path
    table = table_at(tuple(above))
    known = fields_of(table) if table else {}
    help_ = _elsewhere(str(key)) + suggestion(str(key), known, f"keys of {shown(tuple(above))}")
    return Diagnostic("M105", f"unknown key {quoted(key)} in {shown(tuple(above))}", places.key(*problem.path), help_)


def _elsewhere(key: str) -> str:
    """Say which tables have a key that this one does not have; empty if none has it."""
    if key in fields_of(Manifest) and (key,) not in {table.pattern[:1] for table in TABLES}:
        return f"`{key}` is a key of the manifest itself: move the line to its top, above all tables in brackets; "
    found = [table.heading for table in TABLES if table.pattern and key in fields_of(table)]
    return f"it is a key of {' and of '.join(found)}; " if found else ""


def _refused(problem: _Problem, places: Places, about_key: bool) -> Diagnostic:
    """One of our own checks, see `kinds.refused`."""
    context, path = problem.context, problem.path
    if context["at"] is not None:
        path = (*path, context["at"])
    message = context["message"].replace("{key}", problem.key)
    return Diagnostic(
        context["code"], message, places.key(*path) if about_key else places.value(*path), context["help"]
    )


def _choice(problem: _Problem, places: Places, _: bool) -> Diagnostic:
    expected = problem.context["expected"].replace("'", '"')
    choices = [each for each in re.split(", | or ", expected) if each not in map(toml, problem.unsupported)]
    wanted = " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
    message = f"{problem.subject} must be {wanted}, not {described(problem.value)}"
    close = closest(str(problem.value), [each.strip('"') for each in choices])
    found = _field_at(problem.path)
    meaning = found[1].description or "" if found else ""
    help_ = f"did you mean {quoted(close)}? {meaning}".rstrip() if close else meaning
    return Diagnostic("M108", message, places.value(*problem.path), help_ or _example(problem.path))


def _length(problem: _Problem, places: Places, _: bool) -> Diagnostic:
    key, count = problem.subject, problem.context["actual_length"]
    least, most = problem.context.get("min_length"), problem.context.get("max_length")
    wanted = f"at least {least}" if least is not None else f"at most {most}"
    message = f"{key} is an empty list" if count == 0 else f"{key} takes {wanted} elements, not {count}"
    found = _field_at(problem.path)
    extra = found[1].json_schema_extra if found else None
    without = extra.get(LEFT_OUT) if isinstance(extra, dict) and count == 0 else None
    help_ = f"without {key}, it is {without}" if without else _example(problem.path)
    return Diagnostic("M113", message, places.value(*problem.path), help_)


def _limit(problem: _Problem, places: Places, _: bool) -> Diagnostic:
    least, most = problem.context.get("ge"), problem.context.get("le")
    wanted = f"at least {least}" if least is not None else f"at most {most:,}"
    message = f"{problem.subject} must be {wanted}, not {described(problem.value)}"
    found = _field_at(problem.path)
    help_ = (found[1].description if found else "") or _example(problem.path)
    return Diagnostic("M111", message, places.value(*problem.path), help_)


def _wrong(problem: _Problem, places: Places, _: bool) -> Diagnostic:
    """A value of the wrong type, or anything that a later pydantic may find."""
    wanted = _WANTED.get(problem.kind)
    message = f"must be {wanted}, not {described(problem.value)}" if wanted else f"is wrong: {problem.message}"
    place = places.value(*problem.path)
    return Diagnostic("M107", f"{problem.subject} {message}", place, _example(problem.path))


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
