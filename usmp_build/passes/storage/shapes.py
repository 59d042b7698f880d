"""Sizes the buffers of a tensor: one, one with a copy for each worker, or one for each row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from usmp_build import effort
from usmp_build.errors import Diagnostic, ModelError
from usmp_build.ir.axes import RowTable
from usmp_build.ir.storage import StorageBuffer
from usmp_build.units import MAX_BYTES, align_up


def in_copies(buffer: StorageBuffer, path: str) -> StorageBuffer:
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


def row_count(buffer: StorageBuffer, table: RowTable, others: int, path: str) -> int:
    """Return the number of rows of a tensor in memory of pages, in all copies; `others` are the rows of other tensors.

    Raises ModelError, placed at the model's `path`, when there are too many.
    """
    rows = table.rows * buffer.copies
    if others + rows > effort.ROWS:
        message = f"{buffer.name} has {rows:,} rows: with them, there are more than {effort.ROWS:,} in memory of pages"
        help_ = "name axis separators for longer rows, or let it live in plain memory"
        raise ModelError(Diagnostic("P333", message, path, help_))
    return rows


def in_rows(buffer: StorageBuffer, table: RowTable, count: int) -> Iterator[StorageBuffer]:
    """Yield a buffer for each row, rounded up to pages."""
    row = replace(buffer, size=table.row_size(buffer.dtype.bits), alignment=table.page, copies=1)
    yield from (replace(row, name=f"{buffer.name}[{number}]") for number in range(count))
