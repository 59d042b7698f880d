"""Writes JSON for people to read and compare: one line for each element of a list, and each member of an object."""

from __future__ import annotations

import json
from collections.abc import Mapping


def json_lines(document: Mapping[str, object]) -> str:
    """Write a document so that a change of one buffer changes one line."""
    return _object(document, "") + "\n"


def _object(value: Mapping[str, object], indent: str) -> str:
    """Write an object and the objects in it, one member a line; what is in a list takes one line, whatever it is."""
    members = (f"{indent}  {json.dumps(key)}: {_value(member, indent + '  ')}" for key, member in value.items())
    return "{\n" + ",\n".join(members) + f"\n{indent}}}"


def _value(value: object, indent: str) -> str:
    if isinstance(value, dict) and value:
        return _object(value, indent)
    if isinstance(value, list) and value:
        rows = ",\n".join(f"{indent}  {json.dumps(row)}" for row in value)
        return f"[\n{rows}\n{indent}]"
    return json.dumps(value)
