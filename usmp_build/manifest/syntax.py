"""From text to a TOML document, and what tomli's complaints mean for somebody who writes a manifest."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import tomli

from usmp_build.document.source import Source
from usmp_build.errors import Diagnostic, ManifestError, Span
from usmp_build.manifest.text import check_limits


class _Complaint(NamedTuple):
    theirs: str
    """A regular expression for the beginning of tomli's message."""
    ours: str
    help: str
    about: str = r"."
    """What the caret goes under, from the place that tomli gives."""


_BACKSLASH = 'in "…" a backslash begins an escape; write \'C:\\models\' or "C:/models"'
_TWICE = "this key or table is given a second time"
_WORD = r"[^\s,\]}#]+"
_COMPLAINTS = (
    _Complaint(r"Can ?not (overwrite|declare)", _TWICE, "give it once; the keys of one table stand together", "line"),
    _Complaint(r"Can ?not mutate", "a table in braces cannot be added to", "write all its keys in the braces", "line"),
    _Complaint(
        r"Illegal character '\\n'",
        "the string does not end on this line",
        'close it with a quote; text of several lines stands in """…"""',
    ),
    _Complaint(r"Illegal character", "a control character", "remove it; in a string, write it as \\u0000"),
    _Complaint(r"Unescaped|Invalid hex|Escaped character", "a backslash that begins no escape", _BACKSLASH),
    _Complaint(r"Expected ['\"]{3,}|Unterminated|Expected \"'\"", "the string does not end", "close it with a quote"),
    _Complaint(r"Invalid date", "there is no such date or time", "no key of the manifest takes one", _WORD),
    _Complaint(
        r"Invalid value", "this is not a value", 'text needs quotes: path = "kws.tflite"; lists are in […]', _WORD
    ),
    _Complaint(
        r"Expected newline",
        "something stands after the value",
        'one `key = value` on a line; text needs quotes: size = "64 KiB"',
        r"[^#\n]*[^\s#]",
    ),
    _Complaint(r"Expected '='", 'a key is followed by "="', "write `key = value`, or a table in brackets: [plan]"),
    _Complaint(
        r"Invalid statement|Invalid initial",
        "here stands a key or a table",
        "write `key = value` or [table]; a key that is more than letters, digits, _ and - needs quotes",
        r"\S+",
    ),
    _Complaint(r"Unclosed array", 'a list goes on with "," or ends with "]"', 'write for example ["dtcm", "sram"]'),
    _Complaint(
        r"Unclosed inline", 'a table in braces goes on with "," or ends with "}"', 'write { cpu = "rw", npu = "ro" }'
    ),
    _Complaint(r"Expected '\]", 'the name of a table ends with "]"', "write [pools.sram], or [[connections]]"),
    _Complaint(r"", "", "https://toml.io has the rules"),
)
_PLACE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)


def parse(source: Source) -> dict[str, Any]:
    """Read a document; raise ManifestError, with the place, when it is not TOML or would take too long to read."""
    check_limits(source)
    try:
        return tomli.loads(source.text)
    except ValueError as error:
        raise ManifestError(_explained(str(error), source)) from None


def _explained(theirs: str, source: Source) -> Diagnostic:
    match = _PLACE.fullmatch(theirs)
    what = match[1] if match else theirs
    start = source.offset(int(match[2]), int(match[3])) if match and match[2] else len(source.text.rstrip())
    complaint = next(complaint for complaint in _COMPLAINTS if re.match(complaint.theirs, what))
    message = complaint.ours or what[:1].lower() + what[1:]
    return Diagnostic("M103", f"not TOML: {message}", _place(source, start, complaint.about), complaint.help)


def _place(source: Source, start: int, about: str) -> Span:
    if about == "line":
        end = len(source.text[:start].rstrip())
        brackets = re.compile(r"\]*").match(source.text, end)
        return source.between(source.text.rfind("\n", 0, end) + 1, brackets.end() if brackets else end)
    match = re.compile(about).match(source.text, start)
    return source.between(start, match.end() if match else start)
