"""The metadata "OfflineMemoryAllocation" of a .tflite file, put in front of the file.

A reader begins at the root, and offsets in a flatbuffer lead forward from where they are.  So a new root goes in front,
and its offsets lead into the old file, which stays as it is, byte for byte:

    new root, list of buffers, list of metadata, offsets │ old file: its root is not used any more
        └────────────────────────────────────────────────┴──→ subgraphs, buffers, ...
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from usmp_build.importers.tflite import schema
from usmp_build.importers.tflite.flatbuffer import (
    Record,
    decode,
    position,
    positions,
    present,
    scalar,
    tables,
)
from usmp_build.importers.tflite.offline import NAME

_HEAD = 3
"""Numbers before the offsets: version, subgraphs, and how many offsets there are."""
_ALIGNMENT = 16
"""Of the data of buffers, and so of what is put in front, in bytes."""
_FIELDS = 8
"""Of the root; a newer schema may have more."""
_BUFFERS, _METADATA = 4, 6


@dataclass(frozen=True, slots=True)
class _Buffer(Record):
    place: int = scalar(1, "Q")
    """From the start of the file, unlike all else; 0 or 1: the data are in the flatbuffer."""


@dataclass(frozen=True, slots=True)
class _Operator(Record):
    has_options_outside: bool = present(9)


@dataclass(frozen=True, slots=True)
class _SubGraph(Record):
    operators: tuple[_Operator, ...] = tables(3, _Operator)


@dataclass(frozen=True, slots=True)
class _Root(Record):
    version: int = scalar(0, "I")
    operator_codes: int = position(1)
    subgraphs: int = position(2)
    description: int = position(3)
    buffers: tuple[int, ...] = positions(_BUFFERS)
    metadata_buffer: int = position(5)
    metadata: tuple[int, ...] = positions(_METADATA)
    signature_defs: int = position(7)
    has_more: bool = present(_FIELDS)


@dataclass(frozen=True, slots=True)
class _Contents(Record):
    subgraphs: tuple[_SubGraph, ...] = tables(2, _SubGraph)
    buffers: tuple[_Buffer, ...] = tables(_BUFFERS, _Buffer)
    metadata: tuple[schema.Metadata, ...] = tables(_METADATA, schema.Metadata)


def fixed(data: bytes) -> str:
    """Return why nothing can be put in front of a file, as a clause; empty where it can."""
    contents = decode(_Contents, data)
    has_outside = any(operator.has_options_outside for graph in contents.subgraphs for operator in graph.operators)
    if has_outside or any(buffer.place > 1 for buffer in contents.buffers):
        return "it has data after the flatbuffer, as files above 2 GB have"
    return "its schema is newer than this version of usmp_build" if decode(_Root, data).has_more else ""


def with_offsets(data: bytes, subgraphs: int, offsets: Sequence[int]) -> bytes:
    """Return a file with these offsets, in bytes, of the tensors of all subgraphs, in place of any that it has."""
    root = decode(_Root, data)
    names = [entry.name for entry in decode(_Contents, data).metadata]
    kept = [at for at, name in zip(root.metadata, names, strict=True) if name != NAME]
    front = _Front(len(root.buffers), len(kept), len(offsets))
    base = front.size
    targets = {
        1: root.operator_codes,
        2: root.subgraphs,
        3: root.description,
        5: root.metadata_buffer,
        7: root.signature_defs,
    }
    places = {slot: base + at for slot, at in targets.items() if at}
    places |= {_BUFFERS: front.buffers, _METADATA: front.metadata}
    front.put_root(root.version, places)
    front.put_list(front.buffers, [*(base + at for at in root.buffers), front.buffer])
    front.put_list(front.metadata, [*(base + at for at in kept), front.entry])
    front.put_entry(len(root.buffers))
    front.put_data(struct.pack(f"<{_HEAD + len(offsets)}i", 1, subgraphs, len(offsets), *offsets))
    return bytes(front.bytes) + data


class _Front:
    """The bytes in front: a table has a table of its fields before it, and a text or vector its length."""

    def __init__(self, buffers: int, metadata: int, offsets: int) -> None:
        self._root = 8 + _up(4 + 2 * _FIELDS, 4)
        self.buffers = self._root + 4 + 4 * _FIELDS
        self.metadata = self.buffers + 4 + 4 * (buffers + 1)
        self.entry = self.metadata + 4 + 4 * (metadata + 1) + 8
        self._name = self.entry + 12
        self.buffer = _up(self._name + 4 + len(NAME) + 1, 4) + 8
        self._data = _up(self.buffer + 8 + 4, _ALIGNMENT)
        self.size = _up(self._data + 4 * (_HEAD + offsets), _ALIGNMENT)
        self.bytes = bytearray(self.size)

    def put_root(self, version: int, places: dict[int, int]) -> None:
        """Write the root, whose other fields are at these places."""
        self._put(0, "I", self._root)
        self.bytes[4:8] = b"TFL3"
        present = [4 + 4 * slot if slot == 0 or slot in places else 0 for slot in range(_FIELDS)]
        self._put(8, "H", 4 + 2 * _FIELDS, 4 + 4 * _FIELDS, *present)
        self._put(self._root, "i", self._root - 8, version)
        for slot, place in places.items():
            self._refer(self._root + 4 + 4 * slot, place)

    def put_list(self, at: int, places: Sequence[int]) -> None:
        """Write a vector of tables."""
        self._put(at, "I", len(places))
        for index, place in enumerate(places):
            self._refer(at + 4 + 4 * index, place)

    def put_entry(self, buffer: int) -> None:
        """Write the metadata that name a buffer by its number."""
        self._put(self.entry - 8, "H", 8, 12, 4, 8)
        self._put(self.entry, "i", 8)
        self._refer(self.entry + 4, self._name)
        self._put(self.entry + 8, "I", buffer)
        self._put(self._name, "I", len(NAME))
        self.bytes[self._name + 4 : self._name + 4 + len(NAME)] = NAME.encode()

    def put_data(self, data: bytes) -> None:
        """Write the buffer and its data."""
        self._put(self.buffer - 8, "H", 6, 8, 4)
        self._put(self.buffer, "i", 8)
        self._refer(self.buffer + 4, self._data - 4)
        self._put(self._data - 4, "I", len(data))
        self.bytes[self._data : self._data + len(data)] = data

    def _refer(self, at: int, place: int) -> None:
        self._put(at, "I", place - at)

    def _put(self, at: int, letter: str, *numbers: int) -> None:
        struct.pack_into(f"<{len(numbers)}{letter}", self.bytes, at, *numbers)


def _up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
