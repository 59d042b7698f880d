"""Reads the bytes of a manifest: returns a `Manifest`, or raises everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from copy import deepcopy
from itertools import chain, islice
from typing import Any

from pydantic import ValidationError

from usmp_build.errors import Diagnostic, ManifestError, Span
from usmp_build.manifest.check import problems
from usmp_build.manifest.explain import explain
from usmp_build.manifest.foreign import refuse_foreign
from usmp_build.manifest.locate import Path, Places, locate
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.syntax import parse
from usmp_build.manifest.text import decode
from usmp_build.manifest.unsupported import unsupported

MOST_PROBLEMS = 100
"""Most problems reported at once."""


def load(text: bytes, file: str) -> Manifest:
    """Read a manifest; `file` is its name in messages.

    Raises ManifestError with all problems, by place.  References by name are checked by `resolve`, unless something is
    wrong already: then those that can be checked are reported as well.
    """
    refuse_foreign(text, file)
    source = decode(text, file)
    document = parse(source)
    places = locate(source)
    try:
        return Manifest.model_validate(document, context=places)
    except ValidationError as error:
        rest = _valid_part(document, error, places)
        diagnostics = chain(explain(error, places, unsupported), problems(rest) if rest else ())
        raise ManifestError(*in_order(diagnostics)) from None


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return at most `MOST_PROBLEMS` diagnostics, sorted by place, without repetitions."""
    return sorted(dict.fromkeys(islice(diagnostics, MOST_PROBLEMS)), key=_position)


def _position(diagnostic: Diagnostic) -> tuple[int, int, str, str]:
    place = diagnostic.place if isinstance(diagnostic.place, Span) else Span("", 0, 0)
    return (place.line, place.column, diagnostic.code, diagnostic.message)


def _valid_part(document: dict[str, Any], error: ValidationError, places: Places) -> Manifest | None:
    """Return the manifest without the values that pydantic refuses; None when no manifest is left."""
    valid = deepcopy(document)
    for _ in range(3):  # without a wrong value, a table may lack a key; without the table, nothing is wrong
        for detail in error.errors(include_url=False, include_context=False, include_input=False):
            missing = detail["type"] == "missing"
            _remove(valid, places.path(detail["loc"][:-1] if missing else detail["loc"]))
        valid.setdefault("project", {"name": "project"})
        try:
            return Manifest.model_validate(valid, context=places)
        except ValidationError as rest:
            error = rest
    return None


def _remove(document: dict[str, Any], path: Path) -> None:
    """Remove the value at a path, or the list that it is in, as positions in lists must not change."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    above: Any = document
    with suppress(LookupError):  # an earlier removal may have included it
        for part in path[:-1]:
            above = above[part]
        del above[path[-1]]
