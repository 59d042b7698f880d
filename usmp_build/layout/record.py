"""What all classes of plan.json have in common."""

from __future__ import annotations

from pydantic import ConfigDict


class Record:
    """Values that plan.json holds: their fields and docstrings are its schema, and a reader refuses all others."""

    __slots__ = ()

    __pydantic_config__ = ConfigDict(extra="forbid", use_attribute_docstrings=True)
