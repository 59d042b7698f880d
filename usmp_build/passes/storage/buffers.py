"""Collects the buffers of a storage: numbers them, splits tensors into rows, and makes names unique."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import lcm

from usmp_build import effort
from usmp_build.errors import Diagnostic, ModelError
from usmp_build.ir.axes import RowTable
from usmp_build.ir.storage import Kind, StorageBuffer
from usmp_build.naming import unique
from usmp_build.request import Request
from usmp_build.units import MAX_BYTES, align_up


@dataclass
class Buffers:
    """Buffers, numbered from 0."""

    request: Request
    buffers: list[StorageBuffer] = field(default_factory=list, init=False)
    rows: dict[int, int] = field(default_factory=dict, init=False)
    """The first row of a tensor in memory of pages → its number of rows."""

    def add(self, buffer: StorageBuffer) -> int:
        """Add a buffer and return its number; replaceable constants are excluded from deduplication."""
        if buffer.kind is Kind.CONSTANT and any(self.request.pools[pool].is_passed for pool in buffer.pools):
            buffer = replace(buffer, stays_apart=True)
        self.buffers.append(buffer)
        return len(self.buffers) - 1

    def add_tensor(self, buffer: StorageBuffer, table: RowTable | None) -> int:
        """Add the buffer of a tensor; in memory of pages, one for each row.  Return the number of the first."""
        if table is None:
            return self.add(buffer)
        first, count = len(self.buffers), _row_count(buffer, table, sum(self.rows.values()), self._path(buffer))
        self.rows[first] = count
        self.buffers += in_rows(buffer, table, count)
        return first

    def align(self, number: int, alignment: int) -> None:
        """Align a buffer, or all rows of a tensor, which begin at multiples of a page, too."""
        for row in range(number, number + self.rows.get(number, 1)):
            buffer = self.buffers[row]
            if buffer.alignment % alignment:  # few tensors need more than their elements do
                self.buffers[row] = replace(buffer, alignment=lcm(buffer.alignment, alignment))

    def read_beyond(self, number: int, count: int) -> None:
        """Keep so many bytes behind a constant."""
        buffer = self.buffers[number]
        if count > buffer.tail:
            reason = f"{buffer.reason.partition(', and')[0]}, and up to {count} bytes behind it are read"
            self.buffers[number] = replace(buffer, tail=count, reason=reason)

    def finished(self) -> tuple[StorageBuffer, ...]:
        """Return all buffers, with unique names and room for their copies."""
        with_names = zip(self.buffers, unique(buffer.name for buffer in self.buffers), strict=True)
        named = (buffer if buffer.name == name else replace(buffer, name=name) for buffer, name in with_names)
        return tuple(_in_copies(buffer, self._path(buffer)) for buffer in named)

    def _path(self, buffer: StorageBuffer) -> str:
        return self.request.models[buffer.models[0]].path


def _in_copies(buffer: StorageBuffer, path: str) -> StorageBuffer:
    """Return a buffer with room for all of its copies, side by side, each aligned.

    Raises ModelError, placed at the model's `path`, when they are larger than any memory.
    """
    if buffer.copies == 1:
        return buffer
    size = align_up(buffer.size, buffer.alignment) * (buffer.copies - 1) + buffer.size
    if size > MAX_BYTES:
        message = f"{buffer.name} has {buffer.copies:,} copies, for as many workers: over {MAX_BYTES:,} bytes"
        raise ModelError(Diagnostic("P322", message, path, "state fewer `workers` of the parallel loops"))
    return replace(buffer, size=size, reason=f"{buffer.reason}; {buffer.copies:,} copies in parallel")


def _row_count(buffer: StorageBuffer, table: RowTable, others: int, path: str) -> int:
    """Return the number of rows of a tensor in memory of pages, in all copies; `others` are the rows of other tensors.

    Raises ModelError, placed at the model's `path`, when there are too many.
    """
    rows = table.rows * buffer.copies + len(table.moved)
    if others + rows > effort.ROWS:
        message = f"{buffer.name} has {rows:,} rows: with them, there are more than {effort.ROWS:,} in memory of pages"
        help_ = "name axis separators for longer rows, or let it live in plain memory"
        raise ModelError(Diagnostic("P333", message, path, help_))
    return rows


def in_rows(buffer: StorageBuffer, table: RowTable, count: int) -> Iterator[StorageBuffer]:
    """Yield a buffer for each row, rounded up to pages."""
    row = replace(buffer, size=table.row_size(buffer.dtype.bits), alignment=table.page, copies=1)
    yield from (replace(row, name=f"{buffer.name}[{number}]") for number in range(count))
