"""JSON with places: parsers forget where things stand, so what is wrong is looked for in the text again."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from usmp_build.document.faults import Faults, Place
from usmp_build.document.source import Source
from usmp_build.document.suggest import closest, quoted, suggestion
from usmp_build.errors import Diagnostic, Span, UsmpError

Record = TypeVar("Record", bound=BaseModel)

_MANY = 10_000
"""Errors of pydantic: more are not looked at one by one."""
_FEW = 1_000
"""Elements of a list that then stand for all."""
_PAIR = 2
"""Values of the lists that have a fixed length."""
_DIGITS = 20
"""Of a number: more are too many."""
_BLANKS = re.compile(r"[ \t\n\r]*")
_WANTED = {
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "tuple_type": "a list",
    "list_type": "a list",
    "model_type": "an object",
    "dict_type": "an object",
    "bool_type": "true or false",
}
_LIMITS = {
    "greater_than_equal": "must be at least {ge:,}",
    "less_than_equal": "must be at most {le:,}",
    "string_too_short": "is empty",
    "string_too_long": "is longer than {max_length:,} characters",
    "literal_error": "must be {expected}",
    "string_unicode": "holds half of a surrogate pair, which is no character",
}


def parse(source: Source) -> dict[str, Any]:
    """Read an object.  Raises the error of its kind when the text is not JSON, or something else."""
    try:
        value = json.loads(source.text, object_pairs_hook=_distinct, parse_constant=_refuse, parse_int=_integer)
    except json.JSONDecodeError as error:
        place = source.between(error.pos, error.pos + 1)
        message, help_ = f"this is not JSON: {error.msg.lower()}", "correct the text here, or shortly before"
        raise source.codes.error(Diagnostic(source.codes.malformed, message, place, help_)) from None
    except RecursionError:
        raise _whole(source, "lists in lists are too deep", "nothing here is that deep") from None
    except ValueError as error:
        raise _whole(source, str(error), "correct the file") from None
    if not isinstance(value, dict):
        raise _whole(source, "the file does not hold an object", "begin with { and end with }")
    return value


def validate(record: type[Record], document: dict[str, Any], source: Source, at: Place = ()) -> Record:
    """Make a record of the object at `at`.  Raises the error of its kind with everything that does not fit."""
    try:
        return record.model_validate(document)
    except ValidationError as error:
        codes = source.codes
        faults, places = Faults(codes), Paths(source, at)
        details = _details(record, document, error)
        for detail in details:
            detail["loc"] = _without_kinds(detail["loc"], document)
        details = _one_for_each_value(details)
        slips = {_meant(record, tuple(detail["loc"])) for detail in details if detail["type"] == "extra_forbidden"}
        for detail in details:
            if detail["type"] != "missing" or detail["loc"] not in slips:  # a slip is told once
                faults.add(codes.value, *_explained(record, detail, places))
        if not details:
            message = f"{error.error_count():,} values are wrong"
            faults.add(codes.value, message, places.span(()), f"`{codes.schema}` prints what they should be")
        faults.stop()
        raise


def _details(record: type[BaseModel], document: dict[str, Any], error: ValidationError) -> list[dict[str, Any]]:
    """Return pydantic's errors, and of too many, which would fill the memory, those of the first elements of lists."""
    if error.error_count() > _MANY:
        shorter = {key: value[:_FEW] if isinstance(value, list) else value for key, value in document.items()}
        try:
            record.model_validate(shorter)
            return []
        except ValidationError as first:
            error = first
    return [dict(detail) for detail in error.errors(include_url=False)] if error.error_count() <= _MANY else []


@dataclass(frozen=True)
class Paths:
    """Finds the values of a JSON document by their paths: `("buffers", 3, "size")`.

    What is not there has the place of what should hold it.
    """

    source: Source
    below: Place = ()
    """Where the paths begin."""
    _seen: dict[int, _Seen] = field(default_factory=dict)
    """By where they begin: objects and lists that were looked into."""

    def span(self, place: Place, what: str = "") -> Span:
        """Return where a value is."""
        text = self.source.text
        at = _skip(text, 0)
        for part in (*self.below, *place, *([what] if what else [])):
            if at not in self._seen:
                self._seen[at] = _Seen({}, _children(text, at))
            inner = self._seen[at].find(part)
            if inner is None:
                break
            at = inner
        return self.source.between(at, _end(text, at))


class _Seen(NamedTuple):
    """An object or a list, as far as it was looked through."""

    known: dict[str | int, int]
    rest: Iterator[tuple[str | int, int]]

    def find(self, part: str | int) -> int | None:
        """Return where a value begins; None when it is not there."""
        while part not in self.known:
            following = next(self.rest, None)
            if following is None:
                return None
            self.known[following[0]] = following[1]
        return self.known[part]


def _children(text: str, at: int) -> Iterator[tuple[str | int, int]]:
    """Yield the keys of an object, or the positions in a list, and where their values begin."""
    opening, number = text[at], 0
    if opening not in "{[":
        return
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        key: str | int = number
        if opening == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        yield key, at
        at = _skip(text, _end(text, at))
        at = _skip(text, at + 1) if text[at] == "," else at
        number += 1


def _end(text: str, at: int) -> int:
    """Return where the value at `at` ends, or a character behind it where it is too deep to say."""
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (RecursionError, ValueError):
        return at + 1


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _explained(record: type[BaseModel], detail: dict[str, Any], places: Paths) -> tuple[str, Span, str]:
    """Return message, place and help for an error of pydantic."""
    path, kind = tuple(detail["loc"]), detail["type"]
    key = next((part for part in reversed(path) if isinstance(part, str)), "the file")
    if kind == "too_long" and detail["ctx"]["max_length"] != _PAIR:
        message = f"{quoted(key)} must not hold more than {detail['ctx']['max_length']:,} values"
        return message, places.span(path), _example(record, path, places)
    if kind == "too_long" or (kind == "missing" and isinstance(path[-1], int)):
        at = path if kind == "too_long" else path[:-1]
        return f"{quoted(key)}: two values are needed here", places.span(at), _example(record, path, places)
    if kind == "missing":
        return f"{quoted(path[-1])} is missing", places.span(path[:-1]), _example(record, path, places)
    if kind == "extra_forbidden":
        known = _fields(record, path[:-1])
        return f"there is no key {quoted(key)} here", places.span(path), suggestion(key, known, "the keys are")
    if kind in _WANTED:
        return f"{quoted(key)} must be {detail['wanted']}", places.span(path), _example(record, path, places)
    if kind in _LIMITS:
        message = f"{quoted(key)} {_LIMITS[kind].format(**detail.get('ctx', {}))}"
    else:
        message = f"{quoted(key)} is wrong: {detail['msg']}"
    return message, places.span(path), _example(record, path, places)


def _one_for_each_value(details: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of a value that may be of several kinds, tell what is wrong for its own kind; if it is of none, name them all."""
    by_place: dict[Place, list[dict[str, Any]]] = {}
    for detail in details:
        by_place.setdefault(detail["loc"], []).append(detail)
    found = []
    for same in by_place.values():
        own = [detail for detail in same if detail["type"] not in _WANTED]
        wanted = " or ".join(dict.fromkeys(_WANTED[detail["type"]] for detail in same if detail not in own))
        found += own or [{**same[0], "wanted": wanted}]
    return found


def _without_kinds(path: Place, value: Any) -> Place:
    """Drop what pydantic adds to a path: of a value of several kinds, their names; of a key that is wrong, "[key]"."""
    found: list[str | int] = []
    for part in path:
        if isinstance(value, list) and isinstance(part, int):
            value = value[part] if part < len(value) else None
        elif isinstance(value, dict) and isinstance(part, str) and (part != "[key]" or part in value):
            value = value.get(part)
        else:
            continue
        found.append(part)
    return tuple(found)


def _meant(record: type[BaseModel], path: Place) -> Place:
    """Return the path of the key that an unknown key is a slip of."""
    return (*path[:-1], closest(str(path[-1]), _fields(record, path[:-1])))


def _example(record: type[BaseModel], path: Place, places: Paths) -> str:
    """Say what is meant by the last key of a path."""
    for end in range(len(path), 0, -1):
        if isinstance(path[end - 1], str):
            field = _models(record, path[: end - 1])
            known = field.model_fields.get(str(path[end - 1])) if field else None
            if known is not None and known.description:
                return known.description.partition("\n")[0]
    return f"`{places.source.codes.schema}` prints what there may be"


def _fields(record: type[BaseModel], path: Place) -> list[str]:
    found = _models(record, path)
    return list(found.model_fields) if found else []


def _models(record: type[BaseModel], path: Place) -> type[BaseModel] | None:
    """Return the record at a path: lists hold records of one kind."""
    for part in path:
        if isinstance(part, str):
            field = record.model_fields.get(part)
            inner = _record_in(field.annotation) if field else None
            if inner is None:
                return None
            record = inner
    return record


def _record_in(annotation: Any) -> type[BaseModel] | None:
    """Return the record that an annotation speaks of: `tuple[Record, ...]`, `Record | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in getattr(annotation, "__args__", ()) if (found := _record_in(part))), None)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {quoted(twice)} is there twice in one object")
    return found


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a number that can be meant here")


def _integer(text: str) -> int:
    """Read a number; one of thousands of digits takes long, and is wrong anyway."""
    return int(text[:_DIGITS])


_DECODER = json.JSONDecoder(parse_int=_integer)


def _whole(source: Source, message: str, help_: str) -> UsmpError:
    return source.codes.error(Diagnostic(source.codes.malformed, message, source.span(1, 1), help_))
