"""Looks up the keys at a path of a JSON document, and their meaning, in its schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from usmp_build.document.faults import Place


@dataclass(frozen=True)
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
