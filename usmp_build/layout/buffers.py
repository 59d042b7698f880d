"""Buffers as planned, and those that share bytes with them while both are alive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, starmap
from typing import Annotated, Literal

from pydantic import Field

from usmp_build.frozen import frozen
from usmp_build.layout.record import Record
from usmp_build.units import align_up


@frozen
class OverlapRecord(Record):
    """Another buffer that shares bytes with one while both are alive."""

    buffer: str
    bytes: int
    operator: str
    """Which touches both: its kind, and its position in the model's file ("CONV_2D 5").  It has read these bytes of the
    one buffer, or needs them as scratch no more, before it writes them in the other."""
    direction: Literal["forward", "backward"]
    """From which end the operator goes through its output."""


@frozen
class OverlapRow(OverlapRecord):
    """The same, and what keeps the two from sharing more."""

    is_lower: bool
    """Whether `separation` is that of the one below the other: both may begin at the same byte."""
    separation: int
    """Bytes, at least, from the start of the lower one to that of the other; 0 or less where that may begin first."""
    distance: int
    """The same, as planned."""


@frozen
class RowOverlapRecord(OverlapRecord):
    """Another buffer that shares bytes with a row while both are alive."""

    row: int
    """The number of the row."""


@frozen
class BufferRecord(Record):
    """A buffer and its place."""

    name: str
    model: str
    """The model that uses it; the first one for a shared constant, the producer for a connection."""
    shared_with: tuple[str, ...]
    """Further models that read this constant or connection."""
    kind: Literal["input", "output", "connection", "intermediate", "scratch", "variable", "constant"]
    pool: str
    offset: int
    size: int
    alignment: int
    intervals: tuple[tuple[int, int], ...]
    """Half-open steps [start, stop) in which it holds data, on the timeline `steps`."""
    read: int
    """Bytes that kernels read of it in one run of each of its models; what is read again counts again."""
    written: int
    """Bytes that kernels write to it in one run of each of its models."""
    reason: str
    """Why it exists."""
    cache_line: int
    """Bytes of the cache lines that it shares with nothing, for DMA may touch it; 0: it may share them."""
    overlaps: tuple[OverlapRecord, ...]
    """Buffers that share bytes with it at a step at which both are alive."""


@frozen
class RowsRecord(Record):
    """A tensor that is computed row by row: each of its rows is a buffer, with a place and a lifetime of its own.

    Rows are numbered from 0, and places that they move to behind them.  Where a plan names single buffers, row 2 of
    `kws.conv` is `kws.conv[2]`.
    """

    name: str
    model: str
    shared_with: tuple[str, ...]
    """Always empty: no other model has a share in rows."""
    kind: Literal["input", "output", "intermediate"]
    pool: str | tuple[str, ...]
    """That of all rows; where they are in several pools, that of each row."""
    offsets: Annotated[tuple[int, ...], Field(min_length=1)]
    """The offset of each row, and then of each place that one moves to."""
    row_size: int
    """Bytes of each row."""
    alignment: int
    """Of each row."""
    intervals: tuple[tuple[int, int], ...]
    """For each offset the half-open steps [start, stop) in which it holds data, on the timeline `steps`."""
    read: int
    """Bytes that kernels read of all rows in one run; what is read again counts again."""
    written: int
    """Bytes that kernels write to all rows in one run."""
    reason: str
    """Why it exists."""
    cache_line: int
    """Always 0: no DMA touches rows."""
    overlaps: tuple[RowOverlapRecord, ...]
    """Buffers that share bytes with a row at a step at which both are alive, in the order of rows."""
    moved: tuple[int, ...] = ()
    """Of each move, in order, the row that moves; the new offsets stand behind those of all rows."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.offsets) - len(self.moved)

    def row_at(self, place: int) -> int:
        """Return the row at an offset, given the number of that."""
        return place if place < self.rows else self.moved[place - self.rows]

    @property
    def pools(self) -> tuple[str, ...]:
        """The pool of each offset."""
        return (self.pool,) * len(self.offsets) if isinstance(self.pool, str) else self.pool


@frozen
class BufferRow(BufferRecord):
    """The same, and what explains it."""

    overlaps: tuple[OverlapRow, ...]
    row: int | None
    """Its number, if it is a row of a tensor that is computed row by row; behind all rows, that of a place."""
    moved: int | None
    """The row that moves there; null where it is written, or for what has no rows."""
    scope: str
    """What restricts the pools that it may be in; empty when nothing does."""
    kept: tuple[str, ...]
    """What keeps its data longer than its use in one run, in a few words each."""

    @property
    def tensor(self) -> str:
        """The name of the tensor that it is a row of; its own name if it is no row."""
        return self.name if self.row is None else self.name.rpartition("[")[0]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that use it."""
        return (self.model, *self.shared_with)

    @property
    def end(self) -> int:
        """The first byte after it: after its last byte, or after its last cache line."""
        return self.offset + align_up(self.size, self.cache_line or 1)


def buffer_records(buffers: Sequence[BufferRecord | RowsRecord]) -> tuple[BufferRecord | RowsRecord, ...]:
    """Return the records of buffers: one for all rows of a tensor, in the place of its first row in `buffers`."""
    rows_by_tensor: dict[str, list[BufferRow]] = defaultdict(list)
    for buffer in buffers:
        if isinstance(buffer, BufferRow) and buffer.row is not None:
            rows_by_tensor[buffer.tensor].append(buffer)
    records: list[BufferRecord | RowsRecord] = []
    for buffer in buffers:
        if not isinstance(buffer, BufferRow) or buffer.row is None:
            records.append(buffer)
        elif rows := rows_by_tensor.pop(buffer.tensor, []):
            records.append(_rows_record(rows))
    return tuple(records)


def _kind_of_rows(row: BufferRow) -> Literal["input", "output", "intermediate"]:
    return row.kind if row.kind in ("input", "output") else "intermediate"


def _rows_record(unordered: Sequence[BufferRow]) -> RowsRecord:
    rows = sorted(unordered, key=lambda row: row.row or 0)
    first, pools = rows[0], tuple(row.pool for row in rows)
    return RowsRecord(
        name=first.tensor,
        model=first.model,
        shared_with=first.shared_with,
        kind=_kind_of_rows(first),
        pool=first.pool if len({*pools}) == 1 else pools,
        offsets=tuple(row.offset for row in rows),
        moved=tuple(row.moved for row in rows if row.moved is not None),
        row_size=first.size,
        alignment=first.alignment,
        intervals=tuple(interval for (interval,) in (row.intervals for row in rows)),
        read=sum(row.read for row in rows),
        written=sum(row.written for row in rows),
        reason=first.reason,
        cache_line=first.cache_line,
        overlaps=tuple(chain.from_iterable(starmap(_row_overlaps, enumerate(rows)))),
    )


def _row_overlaps(number: int, row: BufferRow) -> Iterator[RowOverlapRecord]:
    for each in row.overlaps:
        yield RowOverlapRecord(each.buffer, each.bytes, each.operator, each.direction, number)
