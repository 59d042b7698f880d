"""Where each buffer of a plan is, and when; each row of a tensor is a buffer here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.errors import one_line
from usmp_build.frozen import frozen
from usmp_build.layout import BufferRecord, PlanRecord, RowsRecord
from usmp_build.layout.plan_record import AnyBuffer
from usmp_build.naming import short_name


@frozen
class Place:
    """A buffer, or one row of a tensor, in its pool."""

    record: BufferRecord | RowsRecord
    pool: str
    offset: int
    size: int
    intervals: tuple[tuple[int, int], ...]
    """Half-open steps."""
    row: int | None = None

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.offset + self.size

    def is_alive(self, step: int) -> bool:
        """Tell whether it holds data at a step."""
        return any(start <= step < stop for start, stop in self.intervals)


def workspace_places(plan: PlanRecord) -> Mapping[str, Place]:
    """Return the places of all buffers that are not constants, by name; that of row 2 is `tensor[2]`."""
    return {name: place for record in plan.buffers if record.kind != "constant" for name, place in _places_of(record)}


def _places_of(record: AnyBuffer) -> Iterator[tuple[str, Place]]:
    if isinstance(record, BufferRecord):
        yield record.name, Place(record, record.pool, record.offset, record.size, record.intervals)
        return
    for row, (pool, offset, alive) in enumerate(zip(record.pools, record.offsets, record.intervals, strict=False)):
        yield f"{record.name}[{row}]", Place(record, pool, offset, record.row_size, (alive,), row)


def label(record: BufferRecord | RowsRecord) -> str:
    """Return the name of a buffer as people recognise it, without its model."""
    return one_line(short_name(record.name.removeprefix(f"{record.model}.")))
