"""The manifest as text: from bytes to characters, of which no parser takes too long."""

from __future__ import annotations

import re

from usmp_build.document.faults import Codes
from usmp_build.document.source import Source, decode
from usmp_build.errors import Diagnostic, ManifestError, Span

MOST_BYTES = 1 << 20
"""Of a manifest.  One with ten models and all keys has about five thousand."""
DEEPEST = 32
"""Brackets inside brackets, and parts of a dotted key."""
LONGEST_WORD = 256
"""Characters of a bare key or a number."""

_CODES = Codes(ManifestError, "M102", "M103", "M103", "usmp-build schema", "manifest")

_TOKEN = re.compile(
    r'''"""(?:[^\\]|\\.)*?(?:"""|\Z) | \'\'\'.*?(?:\'\'\'|\Z)  # strings, comments: nothing in them counts
      | "(?:[^"\\\n]|\\[^\n])*"?     | '[^'\n]*'?
      | \#[^\n]*
      | (?P<open>[\[{]) | (?P<close>[\]}]) | (?P<dot>\.) | (?P<end>[\n=,])
      | (?P<word>[A-Za-z0-9_+:-]+)''',
    re.DOTALL | re.VERBOSE,
)


def decoded(data: bytes, file: str) -> Source:
    """Read the bytes of a manifest; raise ManifestError when they are not a reasonable amount of UTF-8."""
    if len(data) > MOST_BYTES:
        message = f"the manifest has {len(data):,} bytes; at most {MOST_BYTES:,} are read"
        help_ = "check the path: this is hardly a manifest"
        raise ManifestError(Diagnostic("M121", message, Span(file, 1, 1), help_))
    return decode(data, file, _CODES)


def check_limits(source: Source) -> None:
    """Refuse text that could exhaust a parser: brackets too deep, keys with too many parts, endless words.

    A parser would stop by itself, but where depends on its stack; here it is the same on every machine.
    """
    depth = dots = 0
    for token in _TOKEN.finditer(source.text):
        kind = token.lastgroup
        match kind:
            case "open":
                depth += 1
            case "close":
                depth -= 1
            case "dot":
                dots += 1
            case "end":
                dots = 0
        if depth > DEEPEST or dots > DEEPEST:
            message = f"nested more than {DEEPEST} deep"
            raise _refused(source, token, message, "no key of the manifest needs more than four levels")
        if kind == "word" and token.end() - token.start() > LONGEST_WORD:
            message = f"a word of {token.end() - token.start():,} characters"
            raise _refused(source, token, message, f"keys and numbers have at most {LONGEST_WORD}")


def _refused(source: Source, token: re.Match[str], message: str, help_: str) -> ManifestError:
    return ManifestError(Diagnostic("M121", message, source.between(*token.span()), help_))
