"""`explain`: with whom a buffer shares bytes, how close it may come to them, and why."""

from __future__ import annotations

from collections.abc import Sequence

from usmp_build.layout import BufferRow, OverlapRow
from usmp_build.units import show_bytes

_NAMED = 3
"""Most buffers named that are alive at another time."""


def overlap_lines(row: BufferRow, others: Sequence[BufferRow]) -> list[str]:
    """Return a line for each buffer that shares bytes with this one while both are alive, and one for all others."""
    return [*(line for each in row.overlaps for line in _together(row.name, each)), *apart_lines([row], others)]


def apart_lines(rows: Sequence[BufferRow], others: Sequence[BufferRow]) -> list[str]:
    """Return a line that names buffers with bytes of some of these in one pool, all of them alive at another time."""
    together = {each.buffer for row in rows for each in row.overlaps}
    apart = [other for other in others if other.name not in together and any(_touch(row, other) for row in rows)]
    if not apart:
        return []
    many = f"{len(apart)} buffers, each" if len(apart) > 1 else "1 buffer,"
    names = [*dict.fromkeys(other.name if other.row is None else f"rows of {other.tensor}" for other in apart)]
    named = ", ".join([*names[:_NAMED], *(["..."] if len(names) > _NAMED else [])])
    return [f"  shares bytes with {many} alive at another time: {named}"]


def _touch(row: BufferRow, other: BufferRow) -> bool:
    return other.pool == row.pool and other.offset < row.offset + row.size and row.offset < other.offset + other.size


def reason_line(operator: str, direction: str) -> str:
    """Return the line that says why an operator lets two buffers share bytes."""
    return f"          {operator} goes {direction} and has read these bytes before it writes them"


def _together(name: str, row: OverlapRow) -> list[str]:
    return [
        f"  shares {show_bytes(row.bytes)} bytes with {row.buffer} while both are alive:",
        f"{reason_line(row.operator, row.direction)}:",
        f"          {name} {_limit(row)}",
    ]


def _limit(row: OverlapRow) -> str:
    """Return how close the buffer may come to the other one, and how close it is."""
    here, there = ("before", "after") if row.is_lower else ("after", "before")
    if row.separation > 0:
        limit = f"must start at least {_bytes(row.separation)} {here} {row.buffer}"
        return f"{limit}, and starts {show_bytes(row.distance)} {here}"
    actual = (
        f"{_bytes(abs(row.distance))} {here if row.distance > 0 else there} it" if row.distance else "where it does"
    )
    if row.separation < 0:
        return f"may start up to {_bytes(-row.separation)} {there} {row.buffer}, and starts {actual}"
    return f"must not start {there} {row.buffer}, and starts {actual}"


def _bytes(count: int) -> str:
    return f"{show_bytes(count)} byte{'' if count == 1 else 's'}"
