"""Finds the place in the text of each key and value of a TOML document.

TOML parsers discard places.  This scanner records nothing else: tomli has accepted the text, so values are skipped
without being parsed, and keys in quotes are parsed by tomli, so that the two cannot disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import tomli

from usmp_build.document.source import Source
from usmp_build.errors import Span
from usmp_build.frozen import frozen

_GAP = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BLANKS = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'''"""(?:[^\\]|\\.)*?""""{0,2} | \'\'\'.*?\'\'\''{0,2} | "(?:[^"\\]|\\.)*" | '[^']*\'''', re.DOTALL | re.VERBOSE
)
_SCALAR = re.compile(r"[^\s,\]}#]+(?: [0-9]{2}:[^\s,\]}#]*)?")  # a date and its time may have a space between them


Path: TypeAlias = tuple[str | int, ...]
"""Keys, and positions in lists."""


@dataclass(slots=True)
class Node:
    """A key and its value, as offsets `(start, end)`; the value of a table is its header."""

    key: tuple[int, int]
    value: tuple[int, int]
    children: dict[str | int, Node] = field(default_factory=dict)
    """By key, or by position in a list."""

    def child(self, name: str | int, key: tuple[int, int]) -> Node:
        """Return the child called `name`; add it, with the place `key`, when it is missing."""
        return self.children.setdefault(name, Node(key, key))

    @property
    def open(self) -> Node:
        """The table that keys below are added to: the last of an array of tables, else this one."""
        return self.children.get(len(self.children) - 1, self)


@frozen
class Places:
    """The keys and values of a document, by path: `("pools", "dtcm", "size")`, `("concurrent", 0, 1)`.

    A part of a path that the document does not have is skipped, so what is missing has the place of its table.
    """

    source: Source
    root: Node

    def has(self, *path: str | int) -> bool:
        """Return whether the document has this key or element."""
        node: Node | None = self.root
        for part in path:
            node = node.children.get(part) if node else None
        return node is not None

    def keys(self, *path: str | int) -> list[str | int]:
        """Return the keys of a table, in the order of the text."""
        return list(self._node(path).children) if self.has(*path) else []

    def key(self, *path: str | int) -> Span:
        """Return the place of a key; of an element of a list, that of the element."""
        node = self._node(path)
        return self.document if node is self.root else self.source.between(*node.key)

    def value(self, *path: str | int) -> Span:
        """Return the place of a value; of a table, that of its header."""
        node = self._node(path)
        return self.document if node is self.root else self.source.between(*node.value)

    @property
    def document(self) -> Span:
        """The place for problems of the document as a whole."""
        return Span(self.source.file, 1, 1)

    def path(self, path: Iterable[str | int]) -> Path:
        """Return the parts of a path that the document has."""
        node, present = self.root, []
        for part in path:
            if part in node.children:
                node = node.children[part]
                present.append(part)
        return tuple(present)

    def _node(self, path: Path) -> Node:
        node = self.root
        for part in path:
            node = node.children.get(part, node)
        return node


def locate(source: Source) -> Places:
    """Index a document that tomli accepts and that is within the limits of `check_limits`."""
    return Places(source, _Scanner(source.text).document())


class _Scanner:
    """Scans the text once; `at` is the offset of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def document(self) -> Node:
        root = table = Node((0, 0), (0, 0))
        self._skip(_GAP)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header(root)
            else:
                self._pair(table)
            self._skip(_GAP)
        return root

    def _header(self, root: Node) -> Node:
        """Scan `[a.b]` or `[[a.b]]`, and return the table that it opens."""
        start = self.at
        brackets = 2 if self.text.startswith("[[", start) else 1
        self.at += brackets
        *parents, (name, key) = self._key()
        self.at += brackets
        table = root
        for parent, place in parents:
            table = table.child(parent, place).open
        node = table.child(name, key)
        if brackets == 2:
            if not node.children:
                node.value = (start, self.at)
            node = node.child(len(node.children), key)
        node.key, node.value = key, (start, self.at)  # it may have been mentioned before, as the parent of a table
        return node

    def _pair(self, table: Node) -> None:
        for name, key in self._key():
            table = table.child(name, key)
        self.at += 1  # the equals sign
        self._skip(_BLANKS)
        self._value(table)

    def _key(self) -> list[tuple[str, tuple[int, int]]]:
        """Read a dotted key, up to the character after it: `=` or `]`."""
        parts = []
        while True:
            self._skip(_BLANKS)
            quoted = self.text[self.at] in "\"'"
            start = self.at
            self._skip(_STRING if quoted else _BARE_KEY)
            token = self.text[start : self.at]
            parts.append((str(tomli.loads(f"key = {token}")["key"]) if quoted else token, (start, self.at)))
            self._skip(_BLANKS)
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def _value(self, node: Node) -> None:
        start = self.at
        first = self.text[start]
        if first in "[{":
            self._elements(node, "]" if first == "[" else "}")
        else:
            self._skip(_STRING if first in "\"'" else _SCALAR)
        node.value = (start, self.at)

    def _elements(self, node: Node, close: str) -> None:
        """Scan the elements between brackets or braces."""
        self.at += 1
        self._skip(_GAP)
        while self.text[self.at] != close:
            if close == "}":
                self._pair(node)
            else:
                element = node.child(len(node.children), (self.at, self.at))
                self._value(element)
                element.key = element.value
            self._skip(_GAP)
            if self.text[self.at] == ",":
                self.at += 1
                self._skip(_GAP)
        self.at += 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
