"""Translates pydantic's errors to values, one for each mistake, and names the types of values in messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from usmp_build.document.faults import Place
from usmp_build.document.suggest import closest

_SAME = {"dataclass_type": "model_type", "unexpected_keyword_argument": "extra_forbidden"}
"""Pydantic's kinds of errors for dataclasses → those for models."""


class ValueFault(NamedTuple):
    """A value that is wrong or missing."""

    kind: str
    """Pydantic's name for it; the same for models and for dataclasses."""
    path: Place
    """The path of the value, or of the object that lacks it, as far as the document has it."""
    key: str | int
    """The last part of the path, or the missing key."""
    about_key: bool
    """Whether the key is wrong, and not its value."""
    value: object
    context: Mapping[str, Any]
    message: str
    """Pydantic's message."""

    @property
    def place(self) -> Place:
        """The path, with the missing key if there is one."""
        return (*self.path, self.key) if self.kind == "missing" else self.path

    @property
    def name(self) -> str:
        """The key, or that of the list that the value is in; empty for the document as a whole."""
        return next((part for part in reversed(self.place) if isinstance(part, str)), "")


def value_faults(
    details: Sequence[Any], path_of: Callable[[Place], Place], keys_at: Callable[[Place], Sequence[str]]
) -> list[ValueFault]:
    """Return the faults in details of pydantic's errors, without those that only follow from others.

    A slip in a key makes it an unknown one and a missing one, and a wrong element makes a list shorter: the
    first is enough.  `path_of` removes parts of a path that the document lacks, `keys_at` returns the keys allowed.
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
    """Return what is needed in place of a value of the wrong type, or empty; `table` is the word for an object."""
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
