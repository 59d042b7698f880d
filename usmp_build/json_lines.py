"""JSON that people read and compare: one line for each element of a list."""

from __future__ import annotations

import json
from collections.abc import Mapping


def json_lines(document: Mapping[str, object]) -> str:
    """Write a document so that what differs in one buffer differs in one line."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list) and value:
            rows = ",\n    ".join(json.dumps(row) for row in value)
            parts.append(f"  {json.dumps(key)}: [\n    {rows}\n  ]")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
