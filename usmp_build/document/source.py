"""Documents as text: decodes bytes, and translates lines, columns and offsets to spans."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from usmp_build.document.faults import PROBLEMS, Codes
from usmp_build.errors import Diagnostic, Span
from usmp_build.frozen import frozen

MOST_BYTES = 1 << 28
"""Most bytes of a file: about four million buffers."""
MOST_LINES = 1 << 22
MOST_BYTES_OF_JSON = 1 << 27
MOST_COMMAS_OF_JSON = 1 << 22
"""Most commas: each value takes hundreds of bytes while it is read, so this bounds memory to some gigabytes."""
_EXCERPT = 160
"""Most characters of a line that a message shows."""


@frozen
class Source:
    """A text with `\\n` at the ends of its lines, and the name of its file."""

    file: str
    text: str
    codes: Codes = PROBLEMS

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(line) + 1 for line in self.lines), initial=0))

    def offset(self, line: int, column: int) -> int:
        """Return where in the text a line and column are."""
        return self._starts[line - 1] + column - 1

    def span(self, line: int, column: int, length: int = 1) -> Span:
        """Return the place at a line and column, both counted from 1."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return Span(self.file, line, column, max(1, length), _shown(text, column))

    def between(self, start: int, end: int) -> Span:
        """Return the place of `text[start:end]`, or of the part of it that is on the first line."""
        line = bisect_right(self._starts, min(start, len(self.text)))
        column = start - self._starts[line - 1]
        return self.span(line, column + 1, min(end - start, len(self.lines[line - 1]) - column))


def check_size(data: bytes, file: str, codes: Codes = PROBLEMS) -> None:
    """Raise the exception of this kind of document when a file is too large to be read."""
    counts = {"bytes": (len(data), MOST_BYTES), "lines": (data.count(b"\n"), MOST_LINES)}
    if is_json(data):
        counts |= {"bytes": (len(data), MOST_BYTES_OF_JSON), "commas": (data.count(b","), MOST_COMMAS_OF_JSON)}
    for what, (count, most) in counts.items():
        if count > most:
            message = f"the file has {count:,} {what}; at most {most:,} are read"
            help_ = "split the problem" if codes is PROBLEMS else "split the file"
            if codes is PROBLEMS and is_json(data):
                help_ = "CSV may be larger"
            raise codes.error(Diagnostic(codes.unreadable, message, Span(file, 1, 1), help_))


def is_json(data: bytes) -> bool:
    """Return whether a file is JSON, by its first character: no CSV begins with a bracket."""
    return data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def decode(data: bytes, file: str, codes: Codes = PROBLEMS) -> Source:
    """Decode bytes; raise the exception of this kind of document when they are not UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        message = f"the {codes.noun} is UTF-16, not UTF-8"
        raise codes.error(Diagnostic(codes.unreadable, message, Span(file, 1, 1), "save it as UTF-8"))
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    try:
        return Source(file, data.decode("utf-8"), codes)
    except UnicodeDecodeError as error:
        source = Source(file, data.decode("utf-8", "replace"))
        before = len(data[: error.start].decode("utf-8"))
        message = f"the byte 0x{data[error.start]:02X} is not UTF-8"
        place = source.between(before, before + 1)
        raise codes.error(Diagnostic(codes.unreadable, message, place, f"save the {codes.noun} as UTF-8")) from None


def _shown(line: str, column: int) -> str:
    """Return an excerpt of a line: one character for each, so that carets stay in place, up to a limit."""
    if column > _EXCERPT:
        return ""
    shown = "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line[:_EXCERPT])
    return shown if len(line) <= _EXCERPT else shown + "…"
