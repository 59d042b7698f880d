"""Splits text into lines of tokens, with a cursor that gives every error a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, TypeVar

from usmp_build.document.suggest import suggestion
from usmp_build.errors import Diagnostic, ModelError, Span
from usmp_build.textual.values import unquote
from usmp_build.units import show_bytes

T = TypeVar("T")

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\#.*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<tensor>%[0-9]+)
      | (?P<position>@-?[0-9]+)
      | (?P<digest>sha256:[0-9a-f]{12}\b)
      | (?P<number>[-+]?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|(?:inf|nan)\b))
      | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<data>\|[0-9a-fA-F \t]*)
      | (?P<mark>\+=|[][(){}=,*])""",
    re.VERBOSE,
)
_INTEGER = re.compile(r"[-+]?[0-9]{1,20}")
_LONGEST_EXCERPT = 400
_LONGEST_QUOTE = 80
_POSITION = re.compile("@[0-9]{1,9}")
"""At most nine digits: copies get the positions after the last one, and all must fit an int in C."""
_FORM = '"usmp-build explain T302" shows the form of such lines'
_ITEM = 64
"""Approximate bytes of a list item in Python."""

MAX_DATA = 1 << 28
"""Most bytes that one text may expand to, by `zeros`, `bytes` or counted items."""


class Allowance:
    """The bytes that a text may still expand to."""

    def __init__(self) -> None:
        self._left = MAX_DATA

    def spend(self, count: int) -> bool:
        """Consume `count` bytes; tell whether that many were left."""
        self._left -= max(0, count)
        return self._left >= 0


class Token(NamedTuple):
    """A piece of a line; the last one of each line has the kind "end"."""

    kind: str
    text: str
    start: int
    """Its column: the number of characters before it on its line."""


class Line:
    """One line, consumed token by token."""

    def __init__(self, file: str, number: int, source: str, allowance: Allowance) -> None:
        self._allowance = allowance
        self._file = file
        self._number = number
        self._source = source
        self._tokens = self._split()
        self._at = 0

    def _split(self) -> list[Token]:
        tokens = []
        start = 0
        while match := _TOKEN.match(self._source, start):
            if match.lastgroup != "space":
                tokens.append(Token(str(match.lastgroup), match[0], start))
            start = match.end()
        if start < len(self._source):
            what = "unterminated string" if self._source[start] == '"' else "unexpected character"
            raise self.error("T302", what, _FORM, Token("", self._source[start], start))
        return [*tokens, Token("end", "", start)]

    def error(self, code: str, message: str, cure: str = "", token: Token | None = None) -> ModelError:
        """Return an error at a token, by default the next one."""
        token = token or self.peek()
        source = self._source if len(self._source) <= _LONGEST_EXCERPT else ""
        span = Span(self._file, self._number, token.start + 1, max(1, len(token.text)), source)
        return ModelError(Diagnostic(code, message, span, cure))

    def unknown(self, what: str, token: Token, allowed: Collection[str]) -> ModelError:
        """Return an error about a word that is not among those allowed."""
        help_ = suggestion(token.text, sorted(allowed), "known")
        return self.error("T306", f'unknown {what} "{token.text[:_LONGEST_QUOTE]}"', help_, token)

    def _unexpected(self, wanted: str) -> ModelError:
        text = self.peek().text
        actual = f"found `{text[:_LONGEST_QUOTE]}`" if text else "but the line ends"
        return self.error("T302", f"expected {wanted}, {actual}", _FORM)

    def peek(self, ahead: int = 0) -> Token:
        """Return an upcoming token without consuming it."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def take(self, kind: str, what: str) -> Token:
        """Take the next token, which must be of a kind."""
        token = self.peek()
        if token.kind != kind:
            raise self._unexpected(what)
        self._at += 1
        return token

    def accept(self, text: str) -> bool:
        """Take the next token if it is this word or mark."""
        matches = self.peek().text == text and self.peek().kind in {"word", "mark"}
        self._at += matches
        return matches

    def accept_key(self, word: str) -> bool:
        """Take the next two tokens if they are this word and `=`."""
        if self.peek(1).text != "=":
            return False
        return self.accept(word) and self.accept("=")

    def expect(self, text: str) -> Token:
        """Take the next token, which must be this word or mark."""
        token = self.peek()
        if not self.accept(text):
            raise self._unexpected(f"`{text}`")
        return token

    def end(self) -> None:
        """Raise ModelError unless the line is used up."""
        self.take("end", "the end of the line")

    def string(self, what: str) -> str:
        """Take a string and return its contents."""
        token = self.take("string", what)
        try:
            return unquote(token.text)
        except ValueError as error:
            raise self.error("T303", f"{error}", r"write \", \\ or \u{1f600}", token) from None

    def data(self) -> bytes:
        """Take a row of hexadecimal digits."""
        token = self.take("data", "a row of hexadecimal digits")
        try:
            return bytes.fromhex(token.text[1:])
        except ValueError:
            raise self.error("T303", "half a byte: an odd number of digits", "write two for each byte", token) from None

    def number(self, kind: str, prefix: str, wanted: int) -> None:
        """Take the number of a tensor or subgraph: these are consecutive from 0."""
        token = self.take(kind, f"`{prefix}{wanted}`")
        if token.text != f"{prefix}{wanted}":
            message = f"this is number {wanted}, not `{token.text[:_LONGEST_QUOTE]}`"
            raise self.error("T305", message, "count from 0 and leave none out: others refer to the number", token)

    def tensor(self, count: int) -> int:
        """Take a reference to one of `count` tensors."""
        token = self.take("tensor", "a tensor, for example %0")
        digits = token.text[1:].lstrip("0")
        if len(digits) > len(str(count)) or int(digits or "0") >= count:
            help_ = f"known here are %0 to %{count - 1}" if count else "tensors come before whatever refers to them"
            raise self.error("T306", f"unknown tensor {token.text[:_LONGEST_QUOTE]}", help_, token)
        return int(digits or "0")

    def choice(self, what: str, allowed: Mapping[str, T]) -> T:
        """Take one of the allowed words, and return its value."""
        word = self.take("word", what)
        if word.text not in allowed:
            raise self.unknown(what, word, allowed)
        return allowed[word.text]

    def position(self) -> int:
        """Take the position of an operator in the model file."""
        token = self.take("position", "a position, for example @0")
        if not _POSITION.fullmatch(token.text):
            message = "a position is a number from 0 to 999,999,999"
            raise self.error("T304", message, "leave it out, or count again", token)
        return int(token.text[1:])

    def integer(self, what: str) -> int:
        """Take an integer of at most 64 bits."""
        token = self.take("number", what)
        if not _INTEGER.fullmatch(token.text) or int(token.text).bit_length() > 64:
            raise self.error(
                "T304", f"{what} must be an integer of at most 64 bits", "write it in decimal digits", token
            )
        return int(token.text)

    def items(self, item: Callable[[], T]) -> list[T]:
        """Take a list in brackets; `x*3` stands for three of x."""
        self.expect("[")
        items: list[T] = []
        while not self.accept("]"):
            if items:
                self.expect(",")
            items.append(item())
            if self.accept("*"):
                items += [items[-1]] * (self._count() - 1)
        return items

    def _count(self) -> int:
        token = self.peek()
        count = self.integer("a count")
        if count < 1:
            raise self.error("T304", "the count must be 1 or more", "leave out the item", token)
        self.spend(count * _ITEM, token)
        return count

    def spend(self, count: int, token: Token) -> None:
        """Raise ModelError if the text expands to too many bytes."""
        if not self._allowance.spend(count):
            message = f"this text stands for more than {show_bytes(MAX_DATA)} bytes"
            raise self.error("T310", message, "spell constants out in hexadecimal digits", token)
