"""Messages about wrong manifests: each folder of tests/errors is a manifest and the messages that it gives.

`USMP_BLESS=1 pytest tests/unit/manifest/test_error_cases.py` writes the messages anew.
"""

import os
import re
from pathlib import Path

import pytest

from usmp_build.errors import Diagnostic, ManifestError, Span
from usmp_build.files import DiskFiles
from usmp_build.manifest import load, resolve

ROOT = Path(__file__).parents[3]
CASES = sorted((ROOT / "tests/errors").glob("*/usmp.toml"))
PAGE = (ROOT / "docs/errors/manifest.md").read_text("utf-8")
SOURCES = [*(ROOT / "usmp_build/manifest").glob("*.py"), ROOT / "usmp_build/files.py"]
CODES = {code for source in SOURCES for code in re.findall(r'"(M1\d\d)"', source.read_text("utf-8"))}


def problems(text: bytes, folder: Path) -> tuple[Diagnostic, ...]:
    """The messages about a manifest, and about the model files that it names."""
    try:
        request = resolve(load(text, "usmp.toml"))
        files = DiskFiles(folder)
        for model in request.models:
            files.read(model.path, model.span)
    except ManifestError as error:
        return error.diagnostics
    return ()


@pytest.mark.parametrize("manifest", CASES, ids=lambda path: path.parent.name)
def test_messages_are_as_recorded(manifest: Path) -> None:
    expected = manifest.with_name("expected.txt")
    message = "\n".join(map(str, problems(manifest.read_bytes(), manifest.parent))) + "\n"
    if os.environ.get("USMP_BLESS"):
        expected.write_text(message, "utf-8", newline="\n")
    assert message == expected.read_text("utf-8")


@pytest.mark.parametrize("manifest", CASES, ids=lambda path: path.parent.name)
def test_messages_are_helpful(manifest: Path) -> None:
    text = manifest.read_text("utf-8", errors="replace")
    messages = problems(manifest.read_bytes(), manifest.parent)
    assert messages
    for diagnostic in messages:
        assert_helpful(diagnostic, text)
    positions = [(d.place.line, d.place.column) for d in messages if isinstance(d.place, Span)]
    assert positions == sorted(positions)


def assert_helpful(diagnostic: Diagnostic, text: str) -> None:
    place, line = diagnostic.place, ""
    assert isinstance(place, Span)
    assert place.file == "usmp.toml"
    lines = text.split("\n")
    assert 1 <= place.line <= len(lines)
    line = lines[place.line - 1]
    assert 1 <= place.column <= len(line) + 1
    assert place.column + place.length <= len(line) + 2
    assert not place.source or place.source == line
    assert diagnostic.help
    assert not diagnostic.help.endswith((" ", ":"))
    assert "\n" not in diagnostic.message + diagnostic.help
    assert names_the_thing(diagnostic, line, place)


def names_the_thing(diagnostic: Diagnostic, line: str, place: Span) -> bool:
    """The message repeats a word of the line it points at; messages about the text as such need not."""
    if diagnostic.code in {"M102", "M103", "M119", "M121"} or (place.line, place.column) == (1, 1):
        return True
    words = set(re.findall(r"\w+", line.partition("#")[0]))
    return bool(words & set(re.findall(r"\w+", diagnostic.message)))


def test_every_code_has_a_case() -> None:
    recorded = "".join(case.with_name("expected.txt").read_text("utf-8") for case in CASES)
    assert set(re.findall(r"error\[(M\d+)\]", recorded)) == CODES


def test_every_code_is_explained_once() -> None:
    assert sorted(re.findall(r"^### (M\d+) \S", PAGE, re.MULTILINE)) == sorted(CODES)
