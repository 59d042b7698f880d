"""Recognizes files that stand in place of a manifest by mistake, and what reads them."""

from __future__ import annotations

import re
from typing import NamedTuple

from usmp_build.document.formats import other_format
from usmp_build.errors import Diagnostic, ManifestError, Span

_WITHIN = 1 << 16
"""Bytes at the beginning that are searched."""


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


def refuse_foreign(data: bytes, file: str) -> None:
    """Raise ManifestError (M144) for a file that is something else, and say what reads it."""
    for kind in _KINDS:
        if file.lower().endswith(kind.suffixes) or kind.text.search(data[:_WITHIN]):
            raise _refusal(file, kind.name, kind.help.format(file=file))
    if model := other_format(data):
        raise _refusal(file, model.name, model.way_out)


def _refusal(file: str, name: str, help_: str) -> ManifestError:
    return ManifestError(Diagnostic("M144", f"this is {name}, not a manifest", Span(file, 1, 1), help_))
