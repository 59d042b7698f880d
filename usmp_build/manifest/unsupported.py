"""Keys that have no effect yet.  They are read and checked like all others, and then refused: silence would lie.

To support a key, delete its line here: messages, documentation and schema follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from usmp_build.errors import Diagnostic
from usmp_build.frozen import frozen
from usmp_build.manifest.explain import matches, shown, table_at
from usmp_build.manifest.locate import Path
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.phrases import toml


@frozen
class NotYet:
    """What has no effect yet, and what to do without it."""

    instead: str
    values: tuple[object, ...] = ()
    """The values that are meant; none: all but the default."""


_SLOWER = '"balanced" spends no instructions for memory; "ram" is the default'

NOT_YET: Mapping[tuple[str, ...], NotYet] = MappingProxyType(
    {
        ("models", "*", "goal"): NotYet(_SLOWER, ("speed",)),
        ("plan", "goal"): NotYet(_SLOWER, ("speed",)),
    }
)


def unsupported(path: Path) -> tuple[object, ...]:
    """Return the values of the key at a path that have no effect yet."""
    return next((word.values for pattern, word in NOT_YET.items() if matches(path, pattern)), ())


def not_yet(manifest: Manifest) -> Iterator[Diagnostic]:
    """Find keys that the manifest uses but that have no effect yet."""
    for pattern, word in NOT_YET.items():
        for path, value, default in _values(manifest, pattern):
            if word.values and value in word.values:
                message = f"{path[-1]} = {toml(value)} is not supported yet"
                yield Diagnostic("M120", message, manifest.places.value(*path), word.instead)
            elif not word.values and value != default:
                name = shown(path) if table_at(path) else f'"{path[-1]}"'
                yield Diagnostic("M120", f"{name} is not supported yet", manifest.places.key(*path), word.instead)


def _values(manifest: Manifest, pattern: tuple[str, ...]) -> Iterator[tuple[Path, object, object]]:
    """What the manifest has at a path with wildcards, and what would be there by default."""
    tables: list[tuple[Path, Any]] = [((), manifest)]
    for part in pattern[:-1]:
        if part == "*":
            tables = [((*path, key), table) for path, above in tables for key, table in _members(above)]
        else:
            tables = [((*path, part), getattr(above, part)) for path, above in tables]
    for path, table in tables:
        yield (*path, pattern[-1]), getattr(table, pattern[-1]), type(table).model_fields[pattern[-1]].default


def _members(tables: Any) -> Iterator[tuple[str | int, Any]]:
    return iter(tables.items() if isinstance(tables, Mapping) else enumerate(tables))
