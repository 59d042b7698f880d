"""Pydantic's errors as values, each mistake once: where, of which kind, and the words for the kinds of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from usmp_build.document.faults import Place
from usmp_build.document.suggest import closest

_SAME = {"dataclass_type": "model_type", "unexpected_keyword_argument": "extra_forbidden"}
"""What pydantic says of dataclasses, in the words that it has for models."""


class ValueFault(NamedTuple):
    """What is wrong with a value, or that it is missing."""

    kind: str
    """Pydantic's name for it; the same for models and for dataclasses."""
    path: Place
    """Of the value, or of what lacks it; as far as the document has it."""
    key: str | int
    """The last of the path, or what is missing there."""
    about_key: bool
    """Whether it is the key that is wrong, and not its value."""
    value: object
    context: Mapping[str, Any]
    message: str
    """Pydantic's."""

    @property
    def place(self) -> Place:
        """The path, and below it what is missing."""
        return (*self.path, self.key) if self.kind == "missing" else self.path

    @property
    def name(self) -> str:
        """The key, or that of the list that the value is in; empty for the document as a whole."""
        return next((part for part in reversed(self.place) if isinstance(part, str)), "")


def value_faults(
    details: Sequence[Any], path_of: Callable[[Place], Place], keys_at: Callable[[Place], Sequence[str]]
) -> list[ValueFault]:
    """Translate details of pydantic's errors, and leave out those that only follow from others.

    A slip in a key makes it an unknown one and a missing one, and a wrong element makes a list shorter: saying the
    first is enough.  `path_of` drops of a path what the document does not have, `keys_at` says which keys there may be.
    """
    faults = [_fault(detail, path_of) for detail in details]
    unknown = [fault.path for fault in faults if fault.kind == "extra_forbidden"]
    slips = {(*above, closest(str(key), keys_at(tuple(above)))) for *above, key in unknown}
    lists = {fault.path[:-1] for fault in faults if fault.path and isinstance(fault.path[-1], int)}
    return [
        fault
        for fault in faults
        if (fault.kind != "missing" or fault.place not in slips)
        and (fault.kind != "too_short" or fault.path not in lists)
    ]


def _fault(detail: Mapping[str, Any], path_of: Callable[[Place], Place]) -> ValueFault:
    kind, location = detail["type"], detail["loc"]
    path = path_of(location)
    key = location[-1] if kind == "missing" else path[-1] if path else ""
    about_key = bool(location) and location[-1] == "[key]"
    context = detail.get("ctx", {})
    return ValueFault(_SAME.get(kind, kind), path, key, about_key, detail["input"], context, detail["msg"])


def wanted(kind: str, table: str) -> str:
    """Say what should be there in place of a value of the wrong type, or nothing; `table` is the word for an object."""
    return {
        "string_type": "text in quotes",
        "int_type": "a whole number",
        "int_from_float": "a whole number",
        "bool_type": "true or false",
        "tuple_type": "a list",
        "list_type": "a list",
        "dict_type": table,
        "model_type": table,
    }.get(kind, "")
