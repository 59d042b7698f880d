"""Reads JSON with places: parsers discard them, so the place of a wrong value is searched in the text again."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from usmp_build.document.faults import Faults, Place
from usmp_build.document.source import Source
from usmp_build.document.suggest import quoted, suggestion
from usmp_build.document.value_errors import ValueFault, value_faults, wanted
from usmp_build.errors import Diagnostic, Span, UsmpError
from usmp_build.frozen import frozen

Record = TypeVar("Record")

_MANY = 10_000
"""Most errors of pydantic that are reported one by one."""
_FEW = 1_000
"""Elements of each list that are validated again when there are more errors."""
_PAIR = 2
"""Number of values in lists of fixed length."""
_DIGITS = 20
"""Most digits of a number that are read."""
_BLANKS = re.compile(r"[ \t\n\r]*")
_LIMITS = {
    "greater_than_equal": "must be at least {ge:,}",
    "less_than_equal": "must be at most {le:,}",
    "string_too_short": "is empty",
    "string_too_long": "is longer than {max_length:,} characters",
    "literal_error": "must be {expected}",
    "string_unicode": "holds half of a surrogate pair, which is no character",
}


def parse(source: Source) -> dict[str, Any]:
    """Return the object in a text.  Raises the exception of this kind of document when it is not a JSON object."""
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
    """Return the object at `at` as a record, which is a pydantic model or a dataclass.

    Raises the exception of this kind of document with all values that do not fit.
    """
    adapter = TypeAdapter(record)
    try:
        return adapter.validate_python(document)
    except ValidationError as error:
        codes, shape = source.codes, Shape(adapter.json_schema())
        faults, places = Faults(codes), Paths(source, at)
        details = _details(adapter, document, error)
        for fault, needed in _one_for_each_value(value_faults(details, partial(_within, document), shape.keys)):
            faults.add(codes.value, *_explained(shape, fault, needed, places))
        if not details:
            message = f"{error.error_count():,} values are wrong"
            faults.add(codes.value, message, places.span(()), f"`{codes.schema}` prints what they should be")
        faults.stop()
        raise


def _details(adapter: TypeAdapter[Record], document: dict[str, Any], error: ValidationError) -> list[Any]:
    """Return pydantic's errors; if they are too many for memory, only those of the first elements of lists."""
    if error.error_count() > _MANY:
        shorter = {key: value[:_FEW] if isinstance(value, list) else value for key, value in document.items()}
        try:
            adapter.validate_python(shorter)
            return []
        except ValidationError as first:
            error = first
    return list(error.errors(include_url=False)) if error.error_count() <= _MANY else []


@frozen
class Paths:
    """Finds the values of a JSON document by their paths: `("buffers", 3, "size")`.

    A missing value has the place of the object or list that should have it.
    """

    source: Source
    below: Place = ()
    """Where the paths begin."""
    _seen: dict[int, _Seen] = field(default_factory=dict)
    """Offset in the text → the object or list that begins there, if it was visited."""

    def span(self, place: Place, what: str = "") -> Span:
        """Return the place of a value."""
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
    """An object or a list, as far as it was scanned."""

    starts: dict[str | int, int]
    rest: Iterator[tuple[str | int, int]]

    def find(self, part: str | int) -> int | None:
        """Return where a value begins; None when it is missing."""
        while part not in self.starts:
            following = next(self.rest, None)
            if following is None:
                return None
            self.starts[following[0]] = following[1]
        return self.starts[part]


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
    """Return where the value at `at` ends, or the next character where it is nested too deeply."""
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (RecursionError, ValueError):
        return at + 1


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _explained(shape: Shape, fault: ValueFault, needed: str, places: Paths) -> tuple[str, Span, str]:
    """Return message, place and help for a wrong value; `needed` is what it should be, if its type is wrong."""
    path, kind = fault.path, fault.kind
    key, pair = quoted(fault.name or "the file"), f"{quoted(fault.name)}: two values are needed here"
    help_ = shape.meaning(fault.place) or f"`{places.source.codes.schema}` prints what is allowed"
    if kind == "extra_forbidden":
        help_ = suggestion(fault.name, shape.keys(path[:-1]), "the keys are")
    message = f"{key} is wrong: {fault.message}"
    if kind == "too_long":
        most = fault.context["max_length"]
        message = pair if most == _PAIR else f"{key} must not hold more than {most:,} values"
    elif kind == "missing":
        message = pair if isinstance(fault.key, int) else f"{key} is missing"
    elif kind == "extra_forbidden":
        message = f"there is no key {key} here"
    elif needed:
        message = f"{key} must be {needed}"
    elif kind in _LIMITS:
        message = f"{key} {_LIMITS[kind].format(**fault.context)}"
    return message, places.span(path), help_


def _one_for_each_value(faults: list[ValueFault]) -> list[tuple[ValueFault, str]]:
    """Report a value that may have several types by the errors of its own type; if it has none, name all types."""
    by_place: dict[Place, list[ValueFault]] = {}
    for fault in faults:
        by_place.setdefault(fault.place, []).append(fault)
    pairs: list[tuple[ValueFault, str]] = []
    for same in by_place.values():
        types = list(dict.fromkeys(filter(None, (wanted(fault.kind, "an object") for fault in same))))
        others = [(fault, "") for fault in same if not wanted(fault.kind, "an object")]
        pairs += others or [(same[0], " or ".join(types))]
    return pairs


def _within(document: Any, path: Place) -> Place:
    """Return the parts of a path that the document has.

    Pydantic adds parts: the type, where a value may have several; "[key]", where a key is wrong.
    """
    parts: list[str | int] = []
    for part in path:
        is_element = isinstance(document, list) and isinstance(part, int) and part < len(document)
        if is_element or (isinstance(document, dict) and part in document):
            document = document[part]
            parts.append(part)
    return tuple(parts)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {quoted(twice)} is there twice in one object")
    return members


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a number that can be meant here")


def _integer(text: str) -> int:
    """Read a number, by its first digits only: thousands of them would take long, and be wrong anyway."""
    return int(text[:_DIGITS])


_DECODER = json.JSONDecoder(parse_int=_integer)


def _whole(source: Source, message: str, help_: str) -> UsmpError:
    return source.codes.error(Diagnostic(source.codes.malformed, message, source.span(1, 1), help_))


@frozen
class Shape:
    """A schema as pydantic generates it."""

    schema: Mapping[str, Any]

    def keys(self, place: Place) -> list[str]:
        """Return the keys of the object at a path; empty where there is no object with declared keys."""
        return list((self._at(place) or {}).get("properties", {}))

    def meaning(self, place: Place) -> str:
        """Return the first line of the description of the last key of a path that has one; else empty."""
        for end in range(len(place), 0, -1):
            above = self._at(place[: end - 1])
            declared = above.get("properties", {}).get(place[end - 1]) if above else None
            if declared and "description" in declared:
                return str(declared["description"]).partition("\n")[0]
        return ""

    def _at(self, place: Place) -> Mapping[str, Any] | None:
        """Return the schema of the object at a path; lists have objects of one kind."""
        schema = self._object(self.schema)
        for part in place:
            if isinstance(part, str) and schema is not None:
                inside = schema.get("properties", {}).get(part, schema.get("additionalProperties"))
                schema = self._object(inside) if isinstance(inside, Mapping) else None
        return schema

    def _object(self, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the first object in a schema: by reference, in a list, or as one of several types."""
        if "$ref" in schema:
            return self._object(self.schema["$defs"][schema["$ref"].rpartition("/")[2]])
        if schema.get("type") == "object":
            return schema
        inside = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *([schema["items"]] if "items" in schema else ())]
        return next((schema_of_part for part in inside if (schema_of_part := self._object(part)) is not None), None)
