"""Recognizes files that stand in place of a manifest by mistake, and what reads them."""

from __future__ import annotations

import re
from typing import NamedTuple

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


_AS_MODEL = "give it a name that ends in .tflite: then it is planned without a manifest"
_KINDS = (
    _Kind((), re.compile(rb"\A\x7fELF"), "a linked image", "to check it: usmp-build check PLAN --elf {file}"),
    _Kind((), re.compile(rb"\A.{4}TFL3", re.DOTALL), "a TensorFlow Lite model", _AS_MODEL),
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
            message = f"this is {kind.name}, not a manifest"
            raise ManifestError(Diagnostic("M144", message, Span(file, 1, 1), kind.help.format(file=file)))
