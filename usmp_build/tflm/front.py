"""Puts a new root in front of a .tflite file.

A reader begins at the root, and offsets in a flatbuffer lead forward from where they are.  So new tables refer to what
they keep of the old file, which stays as it is, byte for byte:

    new root and other new tables │ old file: its root is not used any more
        └─────────────────────────┴──→ subgraphs, buffers, ...
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TypeAlias

from usmp_build.frozen import frozen

_ALIGNMENT = 16
"""Of bytes, as of the data of a buffer, and so of the whole front."""


@frozen
class Old:
    """What begins at this place in the old file."""

    place: int


@frozen
class Table:
    """A new table: what each slot of it holds, None for nothing; numbers have four bytes."""

    slots: Sequence[int | str | bytes | Old | Tables | Numbers | None]


@frozen
class Numbers:
    """A new vector of integers of four bytes."""

    values: Sequence[int]


Tables: TypeAlias = "tuple[Table | Old, ...]"
"""A new vector of tables, new and old ones."""


def front(root: Table) -> bytes:
    """Return the bytes of a new root, for a file that goes behind them."""
    writer = _Writer()
    writer.table(0, root)
    while writer.later:
        writer.table(*writer.later.pop())
    return writer.whole()


class _Writer:
    """The bytes so far; what refers to something is filled in when that is written."""

    def __init__(self) -> None:
        self._bytes = bytearray(b"\0\0\0\0TFL3")
        self._old: list[tuple[int, int]] = []
        """Where an offset is, and where in the old file it leads."""
        self.later: list[tuple[int, Table]] = []
        """Where an offset is, and the table to which it leads."""

    def whole(self) -> bytes:
        """Return all, when the size is known."""
        self._align(_ALIGNMENT)
        for at, place in self._old:
            self._put(at, len(self._bytes) + place - at)
        return bytes(self._bytes)

    def table(self, referring: int, table: Table) -> None:
        """Write a table behind the offsets of its fields, and what it refers to."""
        self._align(4)
        offsets = [4 + 4 * slot if value is not None else 0 for slot, value in enumerate(table.slots)]
        start = len(self._bytes)
        self._bytes += struct.pack(f"<{2 + len(offsets)}H", 4 + 2 * len(offsets), 4 + 4 * len(offsets), *offsets)
        self._align(4)
        at = len(self._bytes)
        self._refer(referring)
        self._bytes += struct.pack("<i", at - start) + bytes(4 * len(offsets))
        for slot, value in enumerate(table.slots):
            self._value(at + 4 + 4 * slot, value)

    def _value(self, at: int, value: int | str | bytes | Old | Tables | Numbers | Table | None) -> None:
        match value:
            case int():
                self._put(at, value)
            case Old(place):
                self._old.append((at, place))
            case Table():
                self.later.append((at, value))
            case str():
                self._vector(at, len(value), value.encode() + b"\0")
            case bytes():
                self._vector(at, len(value), value, _ALIGNMENT)
            case Numbers(values):
                self._vector(at, len(values), struct.pack(f"<{len(values)}i", *values))
            case tuple():
                start = self._vector(at, len(value), bytes(4 * len(value)))
                for index, each in enumerate(value):
                    self._value(start + 4 * index, each)

    def _vector(self, referring: int, count: int, content: bytes, alignment: int = 4) -> int:
        """Write the content behind its length, aligned; return where it begins."""
        self._bytes += bytes(-(len(self._bytes) + 4) % alignment)
        self._refer(referring)
        self._bytes += struct.pack("<I", count) + content
        return len(self._bytes) - len(content)

    def _refer(self, at: int) -> None:
        self._put(at, len(self._bytes) - at)

    def _put(self, at: int, number: int) -> None:
        struct.pack_into("<I", self._bytes, at, number)

    def _align(self, alignment: int) -> None:
        self._bytes += bytes(-len(self._bytes) % alignment)
