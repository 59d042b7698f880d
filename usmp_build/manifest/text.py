"""The manifest as text: from bytes to characters, and from offsets in the text to spans."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from usmp_build.errors import Diagnostic, ManifestError, Span

MOST_BYTES = 1 << 20
"""Of a manifest.  One with ten models and all keys has about five thousand."""
DEEPEST = 32
"""Brackets inside brackets, and parts of a dotted key."""
LONGEST_WORD = 256
"""Characters of a bare key or a number."""
_EXCERPT = 160
"""Characters of a line that a message repeats."""

_TOKEN = re.compile(
    r'''"""(?:[^\\]|\\.)*?(?:"""|\Z) | \'\'\'.*?(?:\'\'\'|\Z)  # strings, comments: nothing in them counts
      | "(?:[^"\\\n]|\\[^\n])*"?     | '[^'\n]*'?
      | \#[^\n]*
      | (?P<open>[\[{]) | (?P<close>[\]}]) | (?P<dot>\.) | (?P<end>[\n=,])
      | (?P<word>[A-Za-z0-9_+:-]+)''',
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class Source:
    """The text of a manifest, with `\\n` at the ends of lines, and the name of its file."""

    file: str
    text: str

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def offset(self, line: int, column: int) -> int:
        """Return where in the text a line and column are."""
        return self._starts[line - 1] + column - 1

    def span(self, start: int, end: int) -> Span:
        """Return the place of `text[start:end]`, or of the part of it that is on the first line."""
        line = bisect_right(self._starts, start)
        first = self._starts[line - 1]
        last = self._starts[line] - 1 if line < len(self._starts) else len(self.text)
        length = max(1, min(end, last) - start)
        return Span(self.file, line, start - first + 1, length, _shown(self.text[first:last], start - first))


def decode(data: bytes, file: str) -> Source:
    """Read the bytes of a manifest; raise ManifestError when they are not a reasonable amount of UTF-8."""
    if len(data) > MOST_BYTES:
        message = f"the manifest has {len(data):,} bytes; at most {MOST_BYTES:,} are read"
        help_ = "check the path: this is hardly a manifest"
        raise ManifestError(Diagnostic("M121", message, Span(file, 1, 1), help_))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        message = "the manifest is UTF-16, not UTF-8"
        raise ManifestError(Diagnostic("M102", message, Span(file, 1, 1), "save it as UTF-8"))
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return Source(file, data.decode("utf-8").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").replace("\r\n", "\n")
        source = Source(file, before + data[error.start :].decode("utf-8", "replace").replace("\r\n", "\n"))
        message = f"the byte 0x{data[error.start]:02X} is not UTF-8"
        place = source.span(len(before), len(before) + 1)
        raise ManifestError(Diagnostic("M102", message, place, "save the manifest as UTF-8")) from None


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
    return ManifestError(Diagnostic("M121", message, source.span(*token.span()), help_))


def _shown(line: str, before: int) -> str:
    """A line as an excerpt: one character for each, so that carets stay in place, and not endlessly many.

    Nothing is shown of a place far to the right: what could be shown would not be under its caret.
    """
    if before >= _EXCERPT:
        return ""
    shown = "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line[:_EXCERPT])
    return shown if len(line) <= _EXCERPT else shown + "…"
