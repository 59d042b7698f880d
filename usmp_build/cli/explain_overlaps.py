"""`explain`: with whom a buffer shares bytes, how close it may come to them, and why."""

from __future__ import annotations

from collections.abc import Sequence

from usmp_build.layout import BufferRow, OverlapRow
from usmp_build.units import show_bytes

_NAMED = 3
"""So many of those that are alive at another time."""


def overlap_lines(row: BufferRow, others: Sequence[BufferRow]) -> list[str]:
    """Return lines for those that share bytes with a buffer while both are alive, and one for all others that do."""
    lines = [line for each in row.overlaps for line in _together(each)]
    together = {each.buffer for each in row.overlaps}
    apart = [
        other.name
        for other in others
        if other.name not in together
        and other.offset < row.offset + row.size
        and row.offset < other.offset + other.size
    ]
    if apart:
        many = f"{len(apart)} buffers, each" if len(apart) > 1 else "1 buffer,"
        names = ", ".join([*apart[:_NAMED], *(["..."] if len(apart) > _NAMED else [])])
        lines.append(f"  shares bytes with {many} alive at another time: {names}")
    return lines


def _together(row: OverlapRow) -> list[str]:
    return [
        f"  shares {show_bytes(row.bytes)} bytes with {row.buffer} while both are alive:",
        f"          {row.operator} goes {row.direction} and has read these bytes before it writes them:",
        f"          {_limit(row)}",
    ]


def _limit(row: OverlapRow) -> str:
    """Say how close both may come, and how close they are."""
    here, there = ("before", "behind") if row.is_lower else ("behind", "before")
    if row.separation > 0:
        return f"it must start at least {_bytes(row.separation)} {here} that, and does so by {show_bytes(row.distance)}"
    if row.distance:
        own = f"starts {_bytes(abs(row.distance))} {here if row.distance > 0 else there} it"
    else:
        own = "starts where it does"
    if row.separation < 0:
        return f"it may start up to {_bytes(-row.separation)} {there} that, and {own}"
    return f"it must not start {there} that, and {own}"


def _bytes(count: int) -> str:
    return f"{show_bytes(count)} byte{'' if count == 1 else 's'}"
