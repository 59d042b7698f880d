"""Reads the bytes of a manifest: returns a `Manifest`, or raises everything that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from copy import deepcopy
from itertools import chain, islice
from typing import Any, NamedTuple

from pydantic import ValidationError

from usmp_build.document.formats import other_format
from usmp_build.errors import Diagnostic, ManifestError, Span
from usmp_build.manifest.check import problems
from usmp_build.manifest.explain import explain
from usmp_build.manifest.locate import Path, Places, locate
from usmp_build.manifest.model import Manifest
from usmp_build.manifest.syntax import parse
from usmp_build.manifest.text import decoded
from usmp_build.manifest.unsupported import unsupported

MOST_PROBLEMS = 100
"""Most problems reported at once."""

_WITHIN = 1 << 16
"""Bytes at the beginning that are searched."""


def load(text: bytes, file: str) -> Manifest:
    """Read a manifest; `file` is its name in messages.

    Raises ManifestError with all problems, by place.  References by name are checked by `resolve`, unless something is
    wrong already: then those that can be checked are reported as well.
    """
    _refuse_foreign(text, file)
    source = decoded(text, file)
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


class _Kind(NamedTuple):
    suffixes: tuple[str, ...]
    text: re.Pattern[bytes]
    """What else tells it, at the beginning of a line or of the file."""
    name: str
    help: str
    """`{file}` stands for its name."""


_KINDS = (
    _Kind((), re.compile(rb"\A\x7fELF"), "a linked image", "to check it: usmp-build check PLAN --elf {file}"),
    _Kind(
        (".dts", ".dtsi", ".overlay"),
        re.compile(rb"^/dts-v1/", re.MULTILINE),
        "a devicetree",
        "to take pools from it: usmp-build init MODEL... --from-devicetree {file}, which writes a manifest",
    ),
    _Kind(
        (".ld", ".lds"),
        re.compile(rb"^\s*(MEMORY|SECTIONS)\s*\{", re.MULTILINE),
        "a linker script",
        "to take pools from it: usmp-build init MODEL... --from-linker-script {file}, which writes a manifest",
    ),
)


def _refuse_foreign(data: bytes, file: str) -> None:
    """Raise ManifestError (M144) for a file that is something else, and say what reads it."""
    for kind in _KINDS:
        if file.lower().endswith(kind.suffixes) or kind.text.search(data[:_WITHIN]):
            raise _refusal(file, kind.name, kind.help.format(file=file))
    if model := other_format(data):
        raise _refusal(file, model.name, model.way_out)


def _refusal(file: str, name: str, help_: str) -> ManifestError:
    return ManifestError(Diagnostic("M144", f"this is {name}, not a manifest", Span(file, 1, 1), help_))
