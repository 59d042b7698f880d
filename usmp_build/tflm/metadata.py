"""The metadata "OfflineMemoryAllocation" of a .tflite file, put in front of the file."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from usmp_build.frozen import frozen
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
from usmp_build.tflm.front import Old, Table, Tables, front

_HEAD = 3
"""Numbers before the offsets: version, subgraphs, and how many offsets there are."""
_FIELDS = 8
"""Of the root; a newer schema may have more."""
_BUFFERS, _METADATA = 4, 6


@frozen
class _Buffer(Record):
    place: int = scalar(1, "Q")
    """From the start of the file, unlike all else; 0 or 1: the data are in the flatbuffer."""


@frozen
class _Operator(Record):
    has_options_outside: bool = present(9)


@frozen
class _SubGraph(Record):
    operators: tuple[_Operator, ...] = tables(3, _Operator)


@frozen
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


@frozen
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
    content = struct.pack(f"<{_HEAD + len(offsets)}i", 1, subgraphs, len(offsets), *offsets)
    buffers: Tables = (*map(Old, root.buffers), Table([content]))
    metadata: Tables = (*map(Old, kept), Table([NAME, len(root.buffers)]))
    codes, graphs, description, old_metadata, signatures = (
        Old(place) if place else None
        for place in (root.operator_codes, root.subgraphs, root.description, root.metadata_buffer, root.signature_defs)
    )
    slots = [root.version, codes, graphs, description, buffers, old_metadata, metadata, signatures]
    return front(Table(slots)) + data
