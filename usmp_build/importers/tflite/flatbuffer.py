"""Decodes untrusted flatbuffers into plain records: every offset is checked and the work is bounded.

A table is declared as a dataclass whose fields say where they are stored:

    @frozen
    class Point(Record):
        x: int = scalar(0, "i")
        name: str = text(1)

The number is the field's slot, which is its position in the table of the schema (a union takes two slots).
`decode` walks a file along such declarations.  It visits nothing else, so there is nothing else to verify, and
who reads the records never meets an offset.  Alignment is not checked: it makes no difference to Python.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import field, fields
from typing import Any, TypeVar

from usmp_build.errors import Diagnostic, ModelError
from usmp_build.frozen import frozen

_WIDTH = {"?": 1, "b": 1, "B": 1, "H": 2, "i": 4, "I": 4, "f": 4, "q": 8, "Q": 8}
"""Bytes of the scalars that declarations name by `struct`'s letters."""


@frozen
class Record:
    """Base of all declared tables.  A record made without arguments stands for one that the file does not store."""


R = TypeVar("R", bound=Record)


def decode(root: type[R], data: bytes) -> R:
    """Return the root table of the flatbuffer in `data`; raise ModelError when the file is damaged or hostile."""
    file = _File(data)
    return _record(root, file, file.follow(0))


def scalar(slot: int, letter: str, default: float = 0) -> Any:
    """Declare a number or a truth value."""
    return _stored(slot, lambda file, at: file.number(letter, at), default)


def vector(slot: int, letter: str) -> Any:
    """Declare a vector of numbers."""
    return _stored(slot, lambda file, at: file.numbers(letter, at), ())


def text(slot: int) -> Any:
    """Declare a string.  Bytes that are not UTF-8 are kept as escapes: a strange name is not an error."""
    return _stored(slot, lambda file, at: file.text(at), "")


def table(slot: int, kind: type[Record]) -> Any:
    """Declare a table, which is a tuple of none or one."""
    return _stored(slot, lambda file, at: (_record(kind, file, file.follow(at)),), ())


def tables(slot: int, kind: type[Record]) -> Any:
    """Declare a vector of tables."""
    return _stored(slot, lambda file, at: tuple(_records(kind, file, at)), ())


def union(slot: int, table_of: Callable[[int], type[Record] | None]) -> Any:
    """Declare a union, its type in `slot` and the table, none or one, in the next; types without one are skipped."""

    def read(source: _Table) -> tuple[Record, ...]:
        tag, at = source.find(slot), source.find(slot + 1)
        kind = table_of(source.file.number("B", tag)) if tag and at else None
        return (_record(kind, source.file, source.file.follow(at)),) if kind else ()

    return field(default=(), metadata={"read": read})


def present(slot: int) -> Any:
    """Declare a field that is read only for whether it is there."""
    return field(default=False, metadata={"read": lambda source: bool(source.find(slot))})


def position(slot: int) -> Any:
    """Declare where in the file something is that the field refers to; 0 where it refers to nothing."""
    return _stored(slot, lambda file, at: file.follow(at), 0)


def positions(slot: int) -> Any:
    """Declare a vector of tables, as the positions of these in the file."""
    return _stored(slot, lambda file, at: tuple(file.elements(at)), ())


def content(slot: int, outer_offset: int, outer_size: int) -> Any:
    """Declare bytes: a vector or, in files larger than 2 GB, a range of the file given by two further fields.

    Such an offset counts from the start of the file; TensorFlow Lite writes 0 or 1 for "none".
    """

    def read(source: _Table) -> bytes:
        at, offset, size = source.find(slot), source.find(outer_offset), source.find(outer_size)
        if at:
            return source.file.content(*source.file.vector(at, 1))
        start = source.file.number("Q", offset) if offset and size else 0
        return source.file.content(start, source.file.number("Q", size)) if start > 1 else b""

    return field(default=b"", metadata={"read": read})


def _stored(slot: int, read: Callable[[_File, int], object], default: object) -> Any:
    """Declare a field that `read` returns, given its position, or that has the default where it is not stored."""

    def found(source: _Table) -> object:
        at = source.find(slot)
        return read(source.file, at) if at else default

    return field(default=default, metadata={"read": found})


def _record(kind: type[R], file: _File, at: int) -> R:
    row = _Table(file, at)
    values = []
    for name, read in file.readers(kind):
        file.trail.append(f".{name}")
        values.append(read(row))
        file.trail.pop()
    return kind(*values)


def _records(kind: type[R], file: _File, at: int) -> list[R]:
    records = []
    for index, element in enumerate(file.elements(at)):
        file.trail.append(f"[{index}]")
        records.append(_record(kind, file, element))
        file.trail.pop()
    return records


_Readers = tuple[tuple[str, Callable[["_Table"], object]], ...]


class _File:
    """The bytes, and how much more of them may be visited.

    Offsets may legally share what they point to, so a small file can describe a huge tree.  What is not shared costs
    at most one unit for four bytes; the rest of the fuel is for writers that share a little.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._fuel = len(data) // 4 + 4096
        self.trail: list[str] = []
        """The current position in the tables, for messages."""
        self._ranges: dict[tuple[int, int], bytes] = {}
        self._readers: dict[type[Record], _Readers] = {}

    def readers(self, kind: type[Record]) -> _Readers:
        """Return the readers of a declared table's fields."""
        if kind not in self._readers:
            self._readers[kind] = tuple((f.name, f.metadata["read"]) for f in fields(kind))
        return self._readers[kind]

    def number(self, letter: str, at: int) -> Any:
        self._need(at, _WIDTH[letter])
        return struct.unpack_from(f"<{letter}", self.data, at)[0]

    def numbers(self, letter: str, at: int) -> tuple[Any, ...]:
        """Return the elements of the vector that is referred to at a position."""
        start, count = self.vector(at, _WIDTH[letter])
        self.spend(count * _WIDTH[letter] // 4)
        return struct.unpack_from(f"<{count}{letter}", self.data, start)

    def text(self, at: int) -> str:
        start, size = self.vector(at, 1)
        self.spend(size // 4)
        return self.data[start : start + size].decode("utf-8", "backslashreplace")

    def content(self, start: int, size: int) -> bytes:
        """Return a range of the file.  The same range is copied, and paid for, once."""
        self._need(start, size)
        if (start, size) not in self._ranges:
            self.spend(size // 4)
            self._ranges[start, size] = self.data[start : start + size]
        return self._ranges[start, size]

    def follow(self, at: int) -> int:
        """Return the position that the offset at a position leads to."""
        position: int = at + self.number("I", at)
        return position

    def vector(self, at: int, width: int) -> tuple[int, int]:
        """Return the position and the number of the elements of the vector that is referred to at a position."""
        self.spend(1)
        start = self.follow(at)
        count = self.number("I", start)
        self._need(start + 4, count * width)
        return start + 4, count

    def elements(self, at: int) -> Iterator[int]:
        """Yield the positions of the tables of the vector that is referred to at a position."""
        start, count = self.vector(at, 4)
        self.spend(count)
        for index in range(count):
            yield self.follow(start + 4 * index)

    def spend(self, units: int) -> None:
        """Take the cost of a visit from the budget.  Raises ModelError when it is used up."""
        self._fuel -= units
        if self._fuel < 0:
            message = f"{self._here()}the file refers to the same parts over and over, to far more than its own size"
            raise ModelError(Diagnostic("T204", message, help="No converter writes such a file: ask where it is from."))

    def _need(self, at: int, size: int) -> None:
        if not 0 <= at <= len(self.data) - size:
            message = f"{self._here()}an offset leads to byte {at:,}, but the file has {len(self.data):,} bytes"
            raise ModelError(Diagnostic("T203", message, help="it is cut off or damaged: copy or convert it again"))

    def _here(self) -> str:
        return "".join(self.trail).lstrip(".") + ": " if self.trail else ""


class _Table:
    """A table in the file: finds its fields."""

    __slots__ = ("_at", "_fields", "_size", "file")

    def __init__(self, file: _File, at: int) -> None:
        file.spend(1)
        self.file = file
        self._at = at
        self._fields: int = at - file.number("i", at)
        self._size: int = file.number("H", self._fields)

    def find(self, slot: int) -> int:
        """Return the position of a field, 0 when it is not stored (no field is at 0: the root's offset is)."""
        entry = 4 + 2 * slot
        if entry + 2 > self._size:
            return 0
        offset: int = self.file.number("H", self._fields + entry)
        return self._at + offset if offset else 0
