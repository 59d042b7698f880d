"""The JSON schema of the manifest, for editors.

It says less than `load` checks (nothing of what names refer to), and refuses nothing that `load` takes.  Draft-07,
because that is what editors know.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from usmp_build.manifest.explain import fields_of
from usmp_build.manifest.model import TABLES, Manifest
from usmp_build.manifest.phrases import toml
from usmp_build.manifest.table import LEFT_OUT, Table
from usmp_build.manifest.unsupported import NOT_YET

Schema: TypeAlias = dict[str, Any]

_MAPS = {"properties", "patternProperties", "definitions"}
_LISTS = {"anyOf", "oneOf", "allOf"}
_SCHEMAS = {"items", "additionalProperties"}


def json_schema() -> str:
    """Return the text of schemas/usmp.schema.json."""
    pydantic_schema = Manifest.model_json_schema(ref_template="#/definitions/{model}")
    pydantic_schema["definitions"] = pydantic_schema.pop("$defs")
    for table in TABLES:
        _annotate(pydantic_schema if table is Manifest else pydantic_schema["definitions"][table.__name__], table)
    schema = {
        **_tidy(pydantic_schema),
        "$id": "urn:usmp-build:manifest",
        "$schema": "http://json-schema.org/draft-07/schema#",
        "description": "Which models a firmware has, and which memory they may use.",
        "title": "Manifest of usmp_build",
    }
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def later(table: type[Table], key: str = "") -> str:
    """Say which part of a table or of one of its keys is not supported yet; empty when all of it is."""
    word = NOT_YET.get((*table.pattern, key) if key else table.pattern[:-1])
    if word is None:
        return ""
    values = ", ".join(map(toml, word.values))
    return f"Not supported yet: {values}." if values else "Not supported yet."


def _annotate(schema: Schema, table: type[Table]) -> None:
    schema["description"] = " ".join([*(table.__doc__ or "").split(), later(table)]).strip()
    for key, field in fields_of(table).items():
        word = schema["properties"][key]
        without = word.pop(LEFT_OUT, "")
        parts = [field.description, f"Left out: {without}." if without else "", later(table, key)]
        word["description"] = " ".join(filter(None, parts))


def _tidy(schema: Schema) -> Schema:
    """A schema without what only Python knows: titles, nulls (TOML has none) and defaults that are tables."""
    result: Schema = {}
    for key, value in schema.items():
        if key in _MAPS:
            result[key] = {name: _tidy(inner) for name, inner in value.items()}
        elif key in _LISTS:
            result[key] = [_tidy(inner) for inner in value if inner != {"type": "null"}]
        elif key in _SCHEMAS and isinstance(value, dict):
            result[key] = _tidy(value)
        elif key not in {"title", "discriminator"} and not (key == "default" and isinstance(value, (dict, list))):
            result[key] = value
    return _simple(result)


def _simple(schema: Schema) -> Schema:
    """The same in the words of draft-07 that editors act on."""
    if schema.get("default", "") is None:
        del schema["default"]
    if schema.get("examples") in ([{}], [[]]):
        del schema["examples"]
    if len(schema.get("anyOf", ())) == 1:
        schema |= schema.pop("anyOf")[0]
    if schema.get("type") == "object":  # pydantic leaves out what is true
        schema.setdefault("additionalProperties", "patternProperties" not in schema)
    if "$ref" in schema and len(schema) > 1:  # what stands beside a reference is not looked at
        schema["allOf"] = [{"$ref": schema.pop("$ref")}]
    return schema
