"""What a table of the manifest is made of: keys that know their kind, their meaning and what happens without them."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

LEFT_OUT = "left out"
"""Key of a field's extras: what happens without the key, where its default does not say it."""
_REQUIRED: Any = ...


class Table(BaseModel):
    """A table of the manifest.  The docstring is its documentation."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    pattern: ClassVar[tuple[str, ...]] = ()
    """Its path in the document; `*` stands for a name or for a position in a list."""
    heading: ClassVar[str] = ""
    """How it is written."""


def key(kind: str, says: str, example: object, default: Any = _REQUIRED, without: str = "", **more: Any) -> Any:
    """Declare a key: the kind of its value (nothing where the type lists the values), its meaning, an example."""
    extra: Any = {LEFT_OUT: without} if without else {}
    return Field(default, title=kind, description=says, examples=[example], json_schema_extra=extra, **more)
