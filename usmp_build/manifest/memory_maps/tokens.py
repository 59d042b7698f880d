"""Splits linker scripts and devicetrees into words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from usmp_build.document.source import Source
from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, UsmpError
from usmp_build.frozen import frozen
from usmp_build.manifest.memory_maps.memory import CODES, fault

_MOST = 1 << 20
"""Most words of a file: a linked devicetree of a large board has fifty thousand."""
_SKIPPED = r"\s+|/\*(?s:.*?)\*/|//[^\n]*|(?m:^[ \t]*\#[ \t]*\d[^\n]*)"
"""Blanks, comments, and lines in which a preprocessor says what is from where."""
_DIRECTIVE = re.compile(r"#\s*(?:include|define|undef|ifn?def|if|else|elif|endif|error|pragma)\b")
LINKER_SCRIPT = r"[A-Za-z_.$][\w.$]*|\d\w*|<<|>>|<=|>=|==|!=|&&|\|\||."
DEVICETREE = r"/[a-z][a-z0-9-]*/|&\{[^}\n]*\}|&?[\w,.+?\#@-]+|."


@frozen
class Token:
    """A word, a string with its quotes, or a sign; the last one of a file is empty."""

    text: str
    start: int
    """Its offset in the file."""


class Tokens:
    """The words of a file, taken one after the other."""

    def __init__(self, source: Source, words: str) -> None:
        self.source = source
        self.all = list(_split(source, words))
        self.at = 0

    @property
    def next(self) -> Token:
        """The next word."""
        return self.all[self.at]

    def take(self) -> Token:
        """Take the next word; at the end of the file, take nothing."""
        token = self.next
        self.at = min(self.at + 1, len(self.all) - 1)
        return token

    def accept(self, *texts: str) -> bool:
        """Take the next word if it is one of these; return whether it was."""
        if self.next.text not in texts:
            return False
        self.take()
        return True

    def expect(self, *texts: str) -> Token:
        """Take the next word, which must be one of these.  Raises UsageError (U272)."""
        if self.next.text not in texts:
            raise self.malformed(self.next, f"expected {' or '.join(map(quoted, texts))}")
        return self.take()

    def skip_block(self) -> None:
        """Take a block whose opening brace was taken.  Raises UsageError (U272) where it does not end."""
        opening, depth = self.all[self.at - 1], 1
        while depth:
            token = self.take()
            if not token.text:
                raise self.malformed(opening, "the block does not end")
            depth += {"{": 1, "}": -1}.get(token.text, 0)

    def skip_statement(self) -> None:
        """Take all words to the next semicolon, or to the end of the file."""
        while self.next.text and not self.accept(";"):
            self.take()

    def malformed(self, token: Token, message: str) -> UsmpError:
        """Return the error that a word is not the one that should be there (U272)."""
        shown = f"; here is {quoted(token.text)}" if token.text else "; here the file ends"
        place = self.source.between(token.start, token.start + len(token.text))
        return CODES.error(Diagnostic(CODES.malformed, message + shown, place, "correct the text here, or before"))

    def refused(self, token: Token, message: str, help_: str) -> UsmpError:
        """Return the error for a word that stands for something this reader does not support (U273)."""
        return fault(self.source, token.start, token.start + len(token.text), message, help_)


def _split(source: Source, words: str) -> Iterator[Token]:
    text, count = source.text, 0
    for match in re.finditer(rf'(?P<skipped>{_SKIPPED})|(?P<word>"(?:[^"\\\n]|\\.)*"|{words})', text):
        if match["skipped"] is not None:
            continue
        token = Token(match["word"], match.start())
        if token.text[0] == "#" and _DIRECTIVE.match(text, token.start):
            help_ = (
                "give the file as the preprocessor writes it: cc -E -P -x c FILE, or Zephyr's build/zephyr/zephyr.dts"
            )
            raise fault(source, token.start, token.start + 1, "the C preprocessor has not read this file", help_)
        if text.startswith("/*", token.start):
            raise fault(source, token.start, token.start + 2, "the comment does not end", "close it with */")
        count += 1
        if count > _MOST:
            raise fault(source, token.start, token.start + 1, f"more than {_MOST:,} words", "give a smaller file")
        yield token
    yield Token("", len(text))
